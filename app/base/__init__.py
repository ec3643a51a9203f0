"""The base of the window: theme, texts, numbers, paths, settings. It imports nothing else of app."""
