"""The start page, and hints that say what to do next."""
