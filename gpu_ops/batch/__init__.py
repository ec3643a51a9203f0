"""Many files, many frames, or a file larger than memory, through one filter."""
