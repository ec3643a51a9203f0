"""Reports: rows, where they come from, and how they compare."""
