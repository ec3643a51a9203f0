"""`python -m gpu_ops` does what the kernelscope command does."""

import os
import sys

if __name__ == "__main__":
    # Python puts the current folder first on the module path; it may contain an unrelated json.py, and only a checkout
    # needs it.
    home = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    if not sys.flags.safe_path and os.path.realpath(sys.path[0]) != home:
        del sys.path[0]
    from gpu_ops.cli.own.supervised import main

    sys.exit(main(sys.argv[1:]))
