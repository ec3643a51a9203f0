"""Running an experiment: its picks are planned, verified and timed."""
