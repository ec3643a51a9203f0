"""Live input: its loop of frames."""
