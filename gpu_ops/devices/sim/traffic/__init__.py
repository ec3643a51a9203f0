"""Which bytes a simulated run fetches, and which of them make one element of the result."""
