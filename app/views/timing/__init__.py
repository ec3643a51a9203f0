"""What it took: the ladder, the table, and the claims that are held to them."""
