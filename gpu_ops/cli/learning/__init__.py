"""Commands for lessons."""
