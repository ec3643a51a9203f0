"""The version of Kernelscope."""

__version__ = "0.1.0"
