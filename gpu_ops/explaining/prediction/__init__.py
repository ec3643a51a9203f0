"""Predictions of kernel times on named GPUs: intervals that follow from counts of a simulated GPU."""
