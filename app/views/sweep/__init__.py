"""The panel of sweeps: how times change as one quantity varies."""
