"""The controls of comparisons, and what they say."""
