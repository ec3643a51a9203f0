"""Live input: the choice of a source, and its bar."""
