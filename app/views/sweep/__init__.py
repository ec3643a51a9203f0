"""How times change as one quantity varies."""
