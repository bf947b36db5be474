"""Random mixtures of known variance: no lower bound may exceed the best solution of many starts.

Searches start learning at random moments and stop at random limits, from few starts, so that bounds of every stage are
tested. Prints each failure and a summary; the exit code is 1 if there was one. Nothing is written.

Run: python bench/fuzz.py [seed] [seconds]     (one thread)
"""

import sys
import time

import numpy as np
from gopfast._basin import MixtureBasin
from gopfast._em import MixturePrimal
from gopfast._entropic import EntropicRelaxation
from gopfast._hitting import HittingSets
from gopfast._search import Search

import gopfast
from gopfast import _engine

ROUNDING = 1e-9


def problem(rng):
    """One to two columns, two to six components near and far, weights of any size, priors."""
    d, K, n = 1 + (rng.random() < 0.2), int(rng.integers(2, 7)), int(rng.integers(10, 400))
    X = rng.uniform(1, 7) * rng.integers(K, size=(n, 1)) + rng.uniform(0.5, 1.6) * rng.standard_normal((n, d))
    weights = rng.uniform(0.5, 2, n) * 10.0 ** rng.integers(-2, 3) if rng.random() < 0.5 else None
    prior = rng.choice([None, None, "empirical", 3.0, 100.0])
    return gopfast.GaussianMixture(X, K, sample_weight=weights, prior=prior)


def bounds(family, rng):
    """Lower and upper bound of a search, and whether it used hitting sets."""
    primal = MixturePrimal(family, n_starts=int(rng.integers(1, 5)), seed=int(rng.integers(10**9)))
    sets = HittingSets(family) if HittingSets.applies(family) else None
    search = Search(
        EntropicRelaxation(family), primal, 10.0 ** rng.uniform(-5, -1), basin=MixtureBasin(family, primal),
        reduction=sets, reduce_from=int(rng.choice([2, 16, 64])), max_nodes=int(rng.choice([100, 1000, 6000])),
    )  # fmt: skip
    search.run()
    fields, _ = search.summary()
    return fields["lower_bound"], fields["objective"], sets is not None and len(sets.report()[0]) > 0


def best_of_starts(family, rng):
    primal = MixturePrimal(family, n_starts=60, seed=int(rng.integers(10**9)))
    search = Search(EntropicRelaxation(family), primal, 0.01, max_nodes=1)
    search.run()
    return search.summary()[0]["objective"]


def main(seed=1, seconds=60.0):
    rng = np.random.default_rng(seed)
    end = time.monotonic() + seconds
    n = used = failures = 0
    while time.monotonic() < end:
        family = _engine.family(problem(rng))
        n += 1
        lower, upper, with_sets = bounds(family, rng)
        best = min(upper, best_of_starts(family, rng))
        used += with_sets
        if lower > best + ROUNDING * (1 + abs(best)):
            failures += 1
            print(f"problem {n} of seed {seed}: lower bound {lower!r} above {best!r}", flush=True)
    print(f"{n} problems, {used} with hitting sets, {failures} failures")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main(*(kind(text) for kind, text in zip((int, float), sys.argv[1:], strict=False))))
