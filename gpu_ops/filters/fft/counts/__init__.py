"""The predicted cost of transforms, and what the source states about it."""
