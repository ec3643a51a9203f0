"""What is done to values after reading and before saving, and the generated inputs."""
