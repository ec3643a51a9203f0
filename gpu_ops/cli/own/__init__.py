"""The commands for kernel files from elsewhere."""
