"""
How much of the random tests is run: a part, the same in every run, or all with GOPFAST_ALL_SEEDS (`make seeds`).

Of tests with a parameter `seed` a third is run, of examples a third: what one shows the others show, but rarely, and
all of them took most of the suite's time.
"""

import os

from hypothesis import HealthCheck, settings

EVERY = 1 if os.environ.get("GOPFAST_ALL_SEEDS") else 3
FEWEST = 6


def some(seeds):
    """Every third of the seeds, or all."""
    return seeds[::EVERY]


def fewer(n):
    """How many of n examples are run."""
    return -(-n // EVERY)


def left_out(items):
    """
    Tests of seeds that are not run, of those with a parameter `seed` that takes all values of a range.

    What a problem is made of often turns with its seed. So where there are other parameters every seed is run with a
    third of their values, and each of these with a third of the seeds; of seeds alone a third is, but at least FEWEST.
    """
    tests = {}
    for item in items:
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        if type(parameters.get("seed")) is int:
            others = tuple((name, id(value)) for name, value in parameters.items() if name != "seed")
            tests.setdefault(item.nodeid.partition("[")[0], {}).setdefault(others, {})[parameters["seed"]] = item
    found = []
    for turns in tests.values():
        for turn, by_seed in enumerate(turns.values()):
            first, n = min(by_seed), len(by_seed)
            if max(by_seed) - first + 1 != n:
                continue
            step = min(EVERY, n)
            for seed, item in by_seed.items():
                is_run = (seed - first + turn) % step == 0 if len(turns) > 1 else seed - first < max(FEWEST, fewer(n))
                if not is_run:
                    found.append(item)
    return found


def examples(n):
    """Settings for a share of n examples, the same in every run, however slow the machine."""
    return settings(
        max_examples=fewer(n),
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
