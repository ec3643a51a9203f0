"""Sweeps, laws, claims and occupancy."""
