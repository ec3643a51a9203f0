"""X-rays and traces of memory accesses."""
