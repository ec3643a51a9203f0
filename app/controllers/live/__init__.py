"""Live input, and what loops of frames have in common."""
