"""One block of a kernel, step by step."""
