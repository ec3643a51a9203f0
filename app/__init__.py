"""The Qt window of Kernelscope."""
