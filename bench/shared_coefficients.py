"""Mixtures of regressions whose components share a coefficient, on data of the literature; writes its results' table.

Run: python bench/shared_coefficients.py [--limit 60]     (about three minutes; bench/results/shared_coefficients.md)
     python bench/shared_coefficients.py --proofs         (three minutes; prints what proofs take)
"""

import argparse
import time
from pathlib import Path

import numpy as np

import gopfast
from gopfast import datasets
from gopfast.checker import file
from gopfast.mixtures.searches import search_of
from gopfast.options import Options

RESULT = Path(__file__).parent / "results" / "shared_coefficients.md"


def cases():
    """Yield a name, the number of components, regressors, responses, what is shared, and the arguments of the model."""
    tone, co2, npreg = datasets.load_tonedata(), datasets.load_co2data(), datasets.load_npreg()
    for name, given in (
        ("known variance 0.01", {"noise_variance": 0.01}), ("free", {}), ("one variance", {"variance": "shared"})
    ):  # fmt: skip
        yield f"tonedata, {name}", 2, tone[:, 0], tone[:, 1], 0, given
    yield "tonedata, free", 2, tone[:, 0], tone[:, 1], "intercept", {}
    yield "co2data, free", 2, co2[:, 0], co2[:, 1], 0, {}
    yield "co2data, free", 2, co2[:, 0], co2[:, 1], "intercept", {}
    deaths, total, center, treated = datasets.load_betablocker().T
    for K in (2, 3, 4):
        yield (
            "betablocker, one class per centre", K, treated, deaths, 0,
            {"family": "binomial", "n_trials": total, "groups": center},
        )  # fmt: skip
    poisson, patent, fabric = {"family": "poisson"}, datasets.load_patent(), datasets.load_fabricfault()
    for K in (2, 3):
        yield "patent on log R&D", K, patent[:, 2], patent[:, 0], 0, poisson
    yield "fabricfault on log length", 2, np.log(fabric[:, 0]), fabric[:, 1], 0, poisson
    yield "npreg, counts on x", 2, npreg[:, 0], npreg[:, 2], 0, poisson
    seizures, hours, treated, day = datasets.load_seizure().T
    X = np.column_stack([treated, np.log(day)])
    yield "seizure on treatment and log day", 2, X, seizures, 1, {**poisson, "offset": np.log(hours)}
    X = np.column_stack([npreg[:, 0], npreg[:, 0] ** 2])
    yield "npreg on x and its square, free", 2, X, npreg[:, 1], 1, {}


def row(name, K, X, y, shared, given, limit):
    """Return a row of the table."""
    problem = gopfast.RegressionMixture(X, y, K, shared_coefficients=shared, **given)
    search = search_of(problem, Options.from_arguments(0.01, log=False, n_threads=1))
    result = search.run(limit)
    return (
        f"| {name} | {problem.shared_coefficients[0]} | {K} | {result.objective:.5f} | {result.gap:.3g} "
        f"| {result.status.name} | {len(search.values)} | {result.n_nodes:,} | {result.time:.1f} |"
    )


def proof_row(name, K, X, y, shared, given, limit):
    """Return a row on the proof of a case."""
    problem = gopfast.RegressionMixture(X, y, K, shared_coefficients=shared, **given)
    began = time.perf_counter()
    result = gopfast.solve(problem, 0.01, time_limit=limit, n_threads=1, log=False, proof=True)
    written = time.perf_counter()
    found = gopfast.check(result.proof, problem._data_of_proof(), problem._weights_of_proof(), problem)
    took, sizes = time.perf_counter() - written, file.read(result.proof.data)[1]["sizes"]
    return (
        f"| {name} | {problem.shared_coefficients[0]} | {len(sizes)} | {(sizes > 0).sum()} | {result.proof.size:,} "
        f"| {found.n_leaves:,} | {found.gap:.3g} | {written - began:.1f} | {took:.1f} |"
    )


def print_proofs(limit):
    """Print the rows on proofs."""
    print("| data | shared | values | with a proof | bytes | leaves and ranges | gap, nats | s | to check, s |")
    print("| --- " * 9 + "|")
    for case in cases():
        print(proof_row(*case, limit), flush=True)


def main():
    """Solve all, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of a search")
    parser.add_argument("--proofs", action="store_true", help="print what proofs take instead")
    options = parser.parse_args()
    limit = options.limit
    if options.proofs:
        return print_proofs(limit)
    lines = [
        "# Mixtures of regressions that share a coefficient", "",
        f"`python bench/shared_coefficients.py --limit {limit:g}`; one thread, seconds of a machine that was shared.",
        "",
        "| data | shared | K | objective | gap, nats | status | values | nodes | s |", "| --- " * 9 + "|",
    ]  # fmt: skip
    for case in cases():
        lines.append(row(*case, limit))
        print(lines[-1], flush=True)
    RESULT.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
