"""What measurements say: X-rays, laws, claims, and the tables and figures of recorded results."""
