"""Translates the PTX of a kernel to Python functions: reading, inlining, control flow and code generation."""
