"""How far a kernel is from the next change of its occupancy, where it spills, and what would clear its conflicts."""
