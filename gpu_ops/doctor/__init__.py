"""What this machine can do, and what it needs."""
