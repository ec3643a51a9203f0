"""The machines of these tests are for all of them."""

from remote_machines import fake, machine, open_window, own_folders, real

__all__ = ["fake", "machine", "open_window", "own_folders", "real"]
