"""Results as pictures, and overlays on them."""
