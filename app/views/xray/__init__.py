"""What a kernel does to memory, line by line."""
