"""The capabilities of this machine, and what is missing."""
