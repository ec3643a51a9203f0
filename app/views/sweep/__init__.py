"""The sweep panel: how times change as one quantity varies."""
