"""The results of an experiment: pictures, curves, and the widgets around them."""
