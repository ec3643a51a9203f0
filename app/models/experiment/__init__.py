"""The choices of the user, with undo."""
