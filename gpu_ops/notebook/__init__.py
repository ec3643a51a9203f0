"""A filter in a notebook: pictures of its results, its parameters as controls, and the ladder of its times."""
