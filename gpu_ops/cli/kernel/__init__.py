"""What the command line shows about one kernel next to its counts."""
