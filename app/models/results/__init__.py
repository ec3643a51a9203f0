"""The results that the window shows."""
