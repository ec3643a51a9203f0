"""Lectures: the scenes on the projector, and the notes of the lecturer."""
