"""`python -m app` does what the kernelscope command does."""

import os
import sys

if __name__ == "__main__":
    # Python puts the current folder first, where an unrelated json.py may be; only a checkout needs that entry.
    home = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    if not sys.flags.safe_path and os.path.realpath(sys.path[0]) != home:
        del sys.path[0]
    from app.main import main

    sys.exit(main())
