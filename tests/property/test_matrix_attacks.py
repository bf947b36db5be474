"""Boxes around what random responsibilities lead to, on awkward data: never emptied, never cut, never bounded too high.

`python tests/property/test_matrix_attacks.py [seconds] [seed]` goes on as long as it is told, and prints what fails.
"""

import itertools
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.search.search import Search

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.attack import DATA, attacked, problem
from support.settings import EVERY

from gopfast import Status
from gopfast.mixtures import engine

# Columns that bounds are taken for; "full" has one implementation for two columns and one for more.
CASES = [("full", 2), ("full", 3), ("tied", 2), ("tied", 3)]
MORE_CASES = [("full", 4), ("full", 6), ("tied", 5)]


def sizes(seed, d):
    """Samples and components of a problem: more components need more samples to differ."""
    K = 2 + (seed % 3 == 0)
    return {"n": 6 + 2 * K + seed % 5, "K": K, "d": d}


@pytest.mark.parametrize("covariance, d", CASES)
@pytest.mark.parametrize("kind", DATA)
def test_boxes_keep_solutions_and_are_bounded_below_them(kind, covariance, d):
    boxes, turn = 0, (list(DATA).index(kind) + d) % 2
    seeds = range(3) if EVERY == 1 else [turn]  # 0 has three components, others two
    for seed in seeds:
        failures, tried = attacked(kind, covariance, seed, n_points=5, n_boxes=12, **sizes(seed, d))
        assert not failures
        boxes += tried
    assert boxes > 33 * len(seeds)


def unproved(kind, covariance, seed, d, max_nodes=150):
    """What is wrong with a search that is told to prove 1 nat more than is true; "" if it goes on for ever."""
    size = sizes(seed, d)
    family = engine.family(problem(kind, covariance, np.random.default_rng(seed), size["n"], size["K"], d))
    search = Search(EntropicRelaxation(family), MixturePrimal(family), -1.0, max_nodes=max_nodes)
    try:
        reason = search.run()
    except RuntimeError as error:
        return f"{kind}, {covariance}, seed {seed}, d={d}: {error}"
    return f"{kind}, {covariance}, seed {seed}, d={d}: proved" if reason == Status.OPTIMAL else ""


@pytest.mark.parametrize("covariance", ["tied", "full"])
@pytest.mark.parametrize("kind", DATA)
def test_no_search_proves_more_than_is_true(kind, covariance):
    for d in range(1, 5):
        assert not unproved(kind, covariance, d, d)


def main(seconds=600.0, seed=0):
    """Attack until the time is over; returns the number of failures."""
    end, boxes, problems, failed = time.monotonic() + seconds, 0, 0, 0
    turns = ((turn, *case, kind) for turn in itertools.count(seed) for case in CASES + MORE_CASES for kind in DATA)
    for turn, covariance, d, kind in turns:
        if time.monotonic() > end:
            break
        failures, tried = attacked(kind, covariance, turn, n_points=5, n_boxes=12, **sizes(turn, d))
        failures += [line for line in [unproved(kind, covariance, turn, d, 1000)] if line]
        boxes, problems, failed = boxes + tried, problems + 1, failed + len(failures)
        print("\n".join(failures), end="\n" if failures else "", flush=True)
    print(f"{problems} problems, {boxes} boxes, {failed} failures; ended at seed {turn}")
    return failed


if __name__ == "__main__":
    sys.exit(main(*(kind(text) for kind, text in zip((float, int), sys.argv[1:], strict=False))) > 0)
