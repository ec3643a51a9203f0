"""The order in which the lanes of a batch run."""
