"""Check a proof against a file of numbers, one sample per line: ``python -m checker proof.npz data.csv``."""

import sys

import numpy as np

from .errors import ProofError
from .verify import check


def main(arguments):
    """Print what is proved; returns the exit code: 0 if the proof holds."""
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        found = check(arguments[0], np.loadtxt(arguments[1], delimiter=",", ndmin=2))
    except (ProofError, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{found}\nproblem: {found.problem}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
