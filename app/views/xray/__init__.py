"""The X-ray panel: a kernel's memory accesses, line by line."""
