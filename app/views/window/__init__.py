"""The window itself: panels, actions, messages, files and preferences."""
