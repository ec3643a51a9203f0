"""The units of a multiprocessor for textures, matrices and barriers in shared memory."""
