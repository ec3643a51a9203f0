"""The panel that shows one block step by step."""
