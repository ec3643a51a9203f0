"""Streams of a simulated GPU: when steps begin, and which are ordered."""
