"""The command as ``python -m gopfast``."""

import sys

from gopfast.cli import main

if __name__ == "__main__":
    sys.exit(main())
