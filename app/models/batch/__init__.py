"""What a batch over a folder is asked for, and what has become of its files."""
