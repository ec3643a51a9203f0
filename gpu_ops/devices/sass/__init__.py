"""SASS, the machine code of NVIDIA GPUs: disassembled, with what it asks of the scheduler and where it comes from."""
