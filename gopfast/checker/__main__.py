"""Check a proof: ``python -m checker proof.npz data.csv`` (one sample per line) or ``proof.npz problem.json``."""

import json
import sys

import numpy as np

from .errors import ProofError
from .verify import check


def main(arguments):
    """Print what is proved; returns the exit code: 0 if the proof holds."""
    if len(arguments) != 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    try:
        found = check(arguments[0], _read(arguments[1]))
    except (ProofError, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    print(found)
    if hasattr(found, "problem"):
        print(f"problem: {found.problem}")
    return 0


def _read(path):
    if path.endswith(".json"):
        with open(path, encoding="utf-8") as source:
            return json.load(source)
    return np.loadtxt(path, delimiter=",", ndmin=2)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
