"""`python -m app` does what the kernelscope command does."""

import sys

from app.main import main

if __name__ == "__main__":
    sys.exit(main())
