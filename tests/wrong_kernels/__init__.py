"""Faults to plant in shipped kernels, by family: the kernels that result must be rejected."""
