"""The experiment panel: the filter, its parameters, its variants and their knobs."""
