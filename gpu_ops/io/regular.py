"""Only regular files are read: a pipe may block for ever, and a device has no end."""

from __future__ import annotations

import stat
from pathlib import Path

from gpu_ops.errors import InputError, plain

KINDS = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def require_regular(path: Path, what: str) -> None:
    """Raises InputError unless `path` is a regular file, or a link to one; `what` is its use in the message, such as
    "an input"."""
    name = plain(path)
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise InputError(f"{name} does not exist; check the name.") from None
    except OSError as error:
        raise InputError(f"{name} cannot be read ({error.strerror}); check its name and permissions.") from None
    except ValueError:
        raise InputError(f"{name} is no file name, because it has a null character; check the name.") from None
    if stat.S_ISDIR(mode):
        raise InputError(f"{name} is a folder; name a file in it.")
    if not stat.S_ISREG(mode):
        kind = next((kind for test, kind in KINDS if test(mode)), "something else")
        raise InputError(f"{name} is {kind}, and {what} must be a file; save its content to a file first.")
