"""The bandwidth of GPUs' memory by their data sheets: the peak that vendors quote, which no program reaches.

Source: NVIDIA's data sheets and product pages of each GPU ("GPU memory bandwidth"). The figure is the memory clock
times two transfers times the width of the bus: for an H100 SXM 2619 MHz · 2 · 5120 bits = 3.35 TB/s.
"""

from __future__ import annotations

PEAKS = {
    "NVIDIA B200": 8.0e12,
    "NVIDIA H200": 4.8e12,
    "NVIDIA H200 NVL": 4.8e12,
    "NVIDIA GH200 480GB": 4.0e12,
    "NVIDIA H100 80GB HBM3": 3.35e12,
    "NVIDIA H100 NVL": 3.9e12,
    "NVIDIA H100 PCIe": 2.0e12,
    "NVIDIA A100-SXM4-80GB": 2.039e12,
    "NVIDIA A100 80GB PCIe": 1.935e12,
    "NVIDIA A100-SXM4-40GB": 1.555e12,
    "NVIDIA A100-PCIE-40GB": 1.555e12,
    "NVIDIA A40": 0.696e12,
    "NVIDIA A30": 0.933e12,
    "NVIDIA A10": 0.600e12,
    "NVIDIA L40S": 0.864e12,
    "NVIDIA L40": 0.864e12,
    "NVIDIA L4": 0.300e12,
    "Tesla T4": 0.320e12,
    "NVIDIA RTX A6000": 0.768e12,
    "NVIDIA RTX 6000 Ada Generation": 0.960e12,
    "NVIDIA GeForce RTX 5090": 1.792e12,
    "NVIDIA GeForce RTX 4090": 1.008e12,
    "NVIDIA GeForce RTX 3090": 0.936e12,
    "NVIDIA GeForce RTX 2080 Ti": 0.616e12,
}
"""Bytes per second by the name that the driver reports."""


def peak_of(model: str) -> float | None:
    """The bytes per second of a GPU's memory by its data sheet; None for a device that is not in the table, as every
    CPU."""
    return PEAKS.get(model)
