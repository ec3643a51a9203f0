"""What every part of the window stands on: theme, texts, numbers, paths, settings. It imports nothing else of app."""
