"""Pictures: their display, their parts, and differences."""
