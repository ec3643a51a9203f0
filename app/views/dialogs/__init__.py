"""Dialogs and pages: opening a file, preferences, the guide, the command palette."""
