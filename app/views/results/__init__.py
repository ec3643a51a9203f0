"""What an experiment gave: pictures, curves, and what stands beside them."""
