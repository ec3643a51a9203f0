"""An editor for CUDA C++: text with line numbers, counters, errors, search and commands."""
