"""What passes cost where clusters are far apart: no number in them may be subnormal. Prints, writes nothing.

Usage: python bench/subnormal.py

Processor nanoseconds: of a step of EM for each sample and component, and of a pass at prices for each sample, at the
first component's parameters. They are to be the same at every distance.
"""

import time

import numpy as np
from everyday_cases import unequal
from gopfast.mixtures.pricing.pricing import ComponentPricing
from gopfast.mixtures.primal.em import MixturePrimal

import gopfast
from gopfast.mixtures import engine

N, D, K, STEPS, TURNS = 100_000, 3, 3, 10, 5
ABOVE = 2.0  # of the prices, nats


def fastest(run):
    """Return the fewest processor seconds of some turns."""
    times = []
    for _ in range(TURNS):
        begun = time.process_time()
        run()
        times.append(time.process_time() - begun)
    return min(times)


def row(apart):
    """Return nanoseconds of a step of EM, and of a pass at prices."""
    problem = gopfast.GaussianMixture(unequal(N, D, K, apart, "diag", 20), K, covariance="diag")
    family = engine.family(problem)
    found = gopfast.solve(problem, max_nodes=1, time_limit=3.0, log=False)
    point, weights = engine.start_solution(problem, found)
    primal, pricing = MixturePrimal(family), ComponentPricing(family.one_component(problem))
    step = fastest(lambda: primal.em(weights, point, -1.0, STEPS - 1)) / (STEPS * N * K)
    cells = point.reshape(K, -1)
    costs = np.array([pricing.costs_at(cell)[0] for cell in cells])
    pricing.set_prices(ABOVE + costs.min(axis=0))
    before = pricing.n_terms
    spent = fastest(lambda: pricing.bound_cell(cells[0], cells[0], n_passes=STEPS))
    return 1e9 * step, 1e9 * spent * TURNS / (pricing.n_terms - before)


def main():
    """Print a line for each distance."""
    for apart in (3.0, 6.0, 12.0, 40.0):
        step, price = row(apart)
        print(f"{apart:g} standard deviations apart: EM {step:.1f} ns, prices {price:.1f} ns")


if __name__ == "__main__":
    main()
