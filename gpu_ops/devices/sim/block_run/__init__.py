"""Runs one block of a launch step by step, and records every step."""
