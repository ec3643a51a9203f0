"""Which bytes of its input a variant fetches, how often, and which of them make one element of its result."""
