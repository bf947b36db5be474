"""
How much of the random tests is run: a part, the same in every run, or all with GOPFAST_ALL_SEEDS (`make seeds`).

Of tests with a parameter `seed` in 0, 1, ... every third is run, of examples a third: what one shows the others show
but rarely, and all of them took most of the suite's time.
"""

import os

from hypothesis import HealthCheck, settings

EVERY = 1 if os.environ.get("GOPFAST_ALL_SEEDS") else 3


def some(seeds):
    """Every third of the seeds, or all."""
    return seeds[::EVERY]


def fewer(n):
    """How many of n examples are run."""
    return -(-n // EVERY)


def left_out(items):
    """Tests of seeds that are not run: of those alike but for a parameter `seed`, which takes all values of a range."""
    alike = {}
    for item in items:
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        if type(parameters.get("seed")) is int:
            others = tuple((name, id(value)) for name, value in parameters.items() if name != "seed")
            alike.setdefault((item.nodeid.partition("[")[0], others), {})[parameters["seed"]] = item
    return [
        by_seed[seed] for by_seed in alike.values() if max(by_seed) - min(by_seed) + 1 == len(by_seed)
        for seed in set(by_seed) - set(some(sorted(by_seed)))
    ]  # fmt: skip


def examples(n):
    """Settings for a share of n examples, the same in every run, however slow the machine."""
    return settings(
        max_examples=fewer(n),
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
