"""Explanations of measurements: X-rays, laws, claims, and the tables and figures of recorded results."""
