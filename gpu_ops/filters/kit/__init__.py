"""What filters are made of: nothing here knows any of them."""
