"""The timeline panel: which steps of a variant run concurrently."""
