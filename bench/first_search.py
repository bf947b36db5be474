"""The first local search of many mixtures, in this tree or another: how good, and how long.

Run: python bench/first_search.py --cases 150 --seed 1 --output here.json
     PYTHONPATH=OTHER python bench/first_search.py --cases 150 --seed 1 --output before.json
     python bench/first_search.py --compare before.json here.json

Clusters as of bench/everyday.py, 200 to 5,000 samples in 1 to 8 columns, of which the mixture has up to two components
fewer or more; two in five rounded to a tenth, with 1 % far out, or with tails that are stretched. The search ends with
the root, by the entropic relaxation; times are the processor's of local searches alone.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from everyday_cases import KINDS, unequal

import gopfast

SHAPES = ("rounded", "far out", "stretched", "plain", "plain")
WORSE = 1e-3  # nats


def case_of(rng, seed):
    """Return the name and the problem of a case."""
    n, d = int(rng.choice([200, 500, 2000, 5000])), int(rng.choice([1, 2, 3, 5, 8]))
    n_clusters = int(rng.choice([2, 3, 4, 5, 6, 8, 12]))
    K = min(10, max(2, n_clusters + int(rng.choice([-2, -1, 0, 0, 1, 2]))))
    kind, apart, shape = str(rng.choice(KINDS)), float(rng.choice([3, 4, 5, 6, 8])), str(rng.choice(SHAPES))
    X = unequal(n, d, n_clusters, apart, kind if rng.random() < 0.7 else str(rng.choice(KINDS)), seed)
    if shape == "rounded":
        X = np.round(X, 1)
    elif shape == "far out":
        X[: max(2, n // 100)] *= 5.0
    elif shape == "stretched":
        X = X.std(axis=0) * np.sinh((X - X.mean(axis=0)) / X.std(axis=0))
    name = f"{n:,} x {d}, {n_clusters} clusters, K={K}, {kind}, {apart:g} apart, {shape}"
    return name, gopfast.GaussianMixture(X, K, covariance=kind)


def measured(problem):
    """Return objective, passes and processor seconds of the first local search."""
    found = gopfast.solve(problem, max_nodes=1, relaxation="entropic", n_threads=1, log=False)
    seconds = sum(found.profile[name].seconds for name in ("local_search", "moves") if name in found.profile)
    return {"objective": float(found.history[found.history[:, 1] <= 1][-1, 3]), "passes": found.n_passes, "s": seconds}


def compare(before, here):
    """Print the cases that differ, and what all come to."""
    texts = [Path(path).read_text(encoding="utf-8") for path in (before, here)]
    rows = [[json.loads(line) for line in text.splitlines()] for text in texts]
    worse = better = 0
    for old, new in zip(*rows, strict=True):
        if old["name"] != new["name"]:
            raise SystemExit(f"{old['name']} is not {new['name']}")
        above = new["objective"] - old["objective"]
        worse, better = worse + (above > WORSE), better + (above < -WORSE)
        if abs(above) > WORSE:
            print(f"{new['name']}: {above:+.3g} nats, {old['passes']} and {new['passes']} passes")
    seconds = [sum(row["s"] for row in one) for one in rows]
    passes = [sum(row["passes"] for row in one) for one in rows]
    print(f"{len(rows[0])} cases: {worse} worse, {better} better; passes {passes[0]:,} and {passes[1]:,}; "
          f"{seconds[0]:.1f} and {seconds[1]:.1f} s")  # fmt: skip


def main():
    """Measure, or compare what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--compare", nargs=2)
    arguments = parser.parse_args()
    if arguments.compare:
        compare(*arguments.compare)
        return
    rng, lines = np.random.default_rng(arguments.seed), []
    for i in range(arguments.cases):
        name, problem = case_of(rng, 1000 * arguments.seed + i)
        lines.append(json.dumps({"name": name, **measured(problem)}))
        print(lines[-1], flush=True)
    if arguments.output:
        arguments.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
