"""What goes in: the filter, its parameters, its variants and their knobs."""
