"""Experiments in a child process, so that nothing a kernel does can harm the caller."""
