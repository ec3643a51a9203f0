"""Running, verifying, timing and reporting experiments."""
