"""`python -m gpu_ops` does what the kernelscope command does."""

import sys

from gpu_ops.cli import main

if __name__ == "__main__":
    sys.exit(main())
