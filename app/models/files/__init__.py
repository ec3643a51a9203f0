"""Sessions, file names and file lists."""
