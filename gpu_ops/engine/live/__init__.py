"""Live input of an engine."""
