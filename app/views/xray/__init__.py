"""The X-ray panel: what a kernel does to memory, line by line."""
