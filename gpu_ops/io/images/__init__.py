"""Formats of images and stacks of them, and what their values mean."""
