"""Takes the place of ssh in tests: runs the remote command here, over a link as slow as FAKE_SSH_DELAY (seconds
one way) and FAKE_SSH_RATE (bytes per second) say. FAKE_SSH_BANNER comes first on standard output, as
from a login shell."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections import deque

DELAY, RATE = float(os.environ.get("FAKE_SSH_DELAY", 0)), float(os.environ.get("FAKE_SSH_RATE", "inf"))
QUEUE = 1 << 16
"""The bytes that are on their way beside those of the delay: the buffers of a connection."""


def pump(source: int, target: int) -> None:
    """Pass bytes on, each DELAY seconds after it could be sent at RATE."""
    due: deque[tuple[float, bytes]] = deque()
    changed = threading.Condition()

    def deliver() -> None:
        while True:
            with changed:
                while not due:
                    changed.wait()
                when, data = due[0]
            time.sleep(max(when - time.monotonic(), 0))
            if data:
                left = memoryview(data)
                try:
                    while left:
                        left = left[os.write(target, left) :]
                except OSError:
                    os._exit(255)
            with changed:
                due.popleft()
                changed.notify_all()
            if not data:
                os.close(target)
                return

    thread = threading.Thread(target=deliver, daemon=True)
    thread.start()
    free = time.monotonic()
    while True:
        data = os.read(source, 1 << 13)
        free = max(free, time.monotonic()) + len(data) / RATE
        with changed:
            due.append((free + DELAY, data))
            changed.notify_all()
            while sum(len(d) for _, d in due) > QUEUE + (RATE * DELAY if RATE < 1e12 else 1 << 20):
                changed.wait()
        if not data:
            thread.join()
            return


def proxy(port: int) -> int:
    """A ProxyCommand of the real ssh: pass bytes on to a port of this machine and back."""
    with socket.create_connection(("127.0.0.1", port)) as there:

        def pass_on() -> None:
            pump(0, os.dup(there.fileno()))
            os._exit(0)  # ssh is gone, and nobody reads what still comes

        threading.Thread(target=pass_on, daemon=True).start()
        pump(there.fileno(), os.dup(1))
    return 0


def main() -> int:
    if sys.argv[1] == "--to":
        return proxy(int(sys.argv[2]))
    banner = os.environ.get("FAKE_SSH_BANNER", "")
    if banner:
        os.write(1, banner.encode())
    child = subprocess.Popen(
        ["sh", "-c", sys.argv[-1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    assert child.stdin and child.stdout
    threading.Thread(target=pump, args=(0, child.stdin.fileno()), daemon=True).start()
    pump(child.stdout.fileno(), os.dup(1))
    return child.wait()


if __name__ == "__main__":
    sys.exit(main())
