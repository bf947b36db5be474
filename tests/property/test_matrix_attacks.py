"""Boxes around what random responsibilities lead to, on awkward data: never emptied, never cut, never bounded too high.

`python tests/property/test_matrix_attacks.py [seconds] [seed]` goes on as long as it is told, and prints what fails.
"""

import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.attack import DATA, attacked

# Columns that bounds are taken for; "full" has one implementation for two columns and one for more.
CASES = [("full", 2)]


def sizes(seed, d):
    """Samples and components of a problem: more components need more samples to differ."""
    K = 2 + (seed % 3 == 0)
    return {"n": 6 + 2 * K + seed % 5, "K": K, "d": d}


@pytest.mark.parametrize("covariance, d", CASES)
@pytest.mark.parametrize("kind", DATA)
def test_boxes_keep_solutions_and_are_bounded_below_them(kind, covariance, d):
    boxes = 0
    for seed in range(9):
        failures, tried = attacked(kind, covariance, seed, **sizes(seed, d))
        assert not failures
        boxes += tried
    assert boxes > 100


def main(seconds=600.0, seed=0):
    """Attack until the time is over; returns the number of failures."""
    end, boxes, problems, failed = time.monotonic() + seconds, 0, 0, 0
    while time.monotonic() < end:
        for kind in DATA:
            for covariance, d in CASES:
                failures, tried = attacked(kind, covariance, seed, **sizes(seed, d))
                boxes, problems, failed = boxes + tried, problems + 1, failed + len(failures)
                print(*failures, sep="\n", end="\n" if failures else "", flush=True)
        seed += 1
    print(f"{problems} problems, {boxes} boxes, {failed} failures; next seed {seed}")
    return failed


if __name__ == "__main__":
    sys.exit(main(*(kind(text) for kind, text in zip((float, int), sys.argv[1:], strict=False))) > 0)
