"""Lessons: pages with experiments, questions and exercises, whose answers are computed on the simulated GPU."""
