"""Processing of values after reading and before saving, and the generated inputs."""
