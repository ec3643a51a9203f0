"""The measured times: the ladder, the table, and the claims that are tested with them."""
