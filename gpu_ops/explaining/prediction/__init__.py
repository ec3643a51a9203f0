"""Predictions of kernel times on named GPUs: from counts of a simulated GPU, as intervals, with the limit that decides."""
