"""Streams of a simulated GPU: when steps start, and which are ordered."""
