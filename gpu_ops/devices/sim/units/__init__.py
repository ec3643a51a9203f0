"""Units of a multiprocessor beside its arithmetic: textures and tensor cores."""
