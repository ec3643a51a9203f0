"""Reports: rows, their provenance, and their comparison."""
