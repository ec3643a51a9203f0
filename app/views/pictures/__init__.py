"""Results as pictures, and what lies over them."""
