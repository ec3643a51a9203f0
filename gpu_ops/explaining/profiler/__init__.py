"""Results of NVIDIA's profiler Nsight Compute: read, and compared line by line with what a simulated GPU counts."""
