"""`python -m gpu_ops` does what the kernelscope command does."""

import os
import sys

if __name__ == "__main__":
    # Python puts the current folder first, where a stranger's json.py may lie; it is needed in a checkout only.
    home = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    if not sys.flags.safe_path and os.path.realpath(sys.path[0]) != home:
        del sys.path[0]
    from gpu_ops.cli import main

    sys.exit(main())
