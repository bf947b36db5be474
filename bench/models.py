"""One table of families: what a component has, how large a problem is proved in a minute, who else fits it.

For each family a ladder of sizes: two components that overlap a little, n samples, four times as many as before, until
a search is not proved in the time limit; the largest n that was. Lines are those of a family's own modules, without
blank ones.

Run: python bench/models.py [--seconds 60] [--most 3200] [--threads 2] [--output bench/results/models.md]
     python bench/models.py --keep     (what searches found is that of the table, all else anew: seconds)
"""

import argparse
import time
from pathlib import Path

import numpy as np

import gopfast

ROOT = Path(__file__).resolve().parent.parent
FAMILIES = "src/gopfast/mixtures/families"
PROBLEMS = "gopfast/mixtures/problems"
FEWEST, EPSILON = 50, 0.01


def halves(rng, n):
    """Which of the two components each sample is of."""
    return np.where(rng.random(n) < 0.5, 0, 1)[:, np.newaxis]


def normal(kind, d):
    def make(rng, n):
        X = rng.normal(size=(n, d)) + 3.0 * halves(rng, n)
        return gopfast.GaussianMixture(X, 2, **({"noise_variance": 1.0} if kind == "known" else {"covariance": kind}))

    return make


def regression(rng, n):
    x = rng.uniform(-2, 2, n)
    lines = np.array([[1.0, 0.0], [-1.0, 2.0]])[halves(rng, n)[:, 0]]
    return gopfast.RegressionMixture(x, lines[:, 0] * x + lines[:, 1] + 0.3 * rng.normal(size=n), 2)


def counts(rng, n):
    x = rng.uniform(-2, 2, n)
    lines = np.array([[0.5, 1.0], [-0.5, 2.0]])[halves(rng, n)[:, 0]]
    return gopfast.RegressionMixture(x, rng.poisson(np.exp(lines[:, 0] * x + lines[:, 1])), 2, family="poisson")


def mixed(rng, n):
    half = halves(rng, n)[:, 0]
    columns = {
        "normal": rng.normal(size=n) + 3.0 * half, "poisson": rng.poisson(np.where(half == 0, 2, 9)),
        "binary": rng.random(n) < np.where(half == 0, 0.2, 0.8),
    }  # fmt: skip
    return gopfast.MixedMixture({kind: kind for kind in columns}, columns, 2)


def labels(rng, n):
    return np.where(rng.random((n, 4)) < np.where(halves(rng, n) == 0, 0.2, 0.8), "yes", "no")


# Family, columns, parameters of a component, its problem, peers that fit it by EM, its own modules.
ROWS = (
    ("known variance", 1, "d", normal("known", 1), "mclust, mixtools", ("gaussian",), "gaussian"),
    ("diag", 1, "2 d", normal("diag", 1), "scikit-learn, mclust, flexmix", ("normal", "variance"), "gaussian"),
    ("diag", 2, "2 d", normal("diag", 2), "scikit-learn, mclust, flexmix", ("normal", "variance"), "gaussian"),
    ("spherical", 2, "d + 1", normal("spherical", 2), "scikit-learn, mclust", ("normal", "variance"), "gaussian"),
    (
        "tied", 2, "d, and d (d + 1) / 2 for all", normal("tied", 2), "scikit-learn, mclust", ("tied", "affine"),
        "gaussian",
    ),
    (
        "full", 2, "d + d (d + 1) / 2", normal("full", 2), "scikit-learn, mclust", ("full", "matrix", "matrices"),
        "gaussian",
    ),
    ("tied_diag", 2, "d, and d for all", normal("tied_diag", 2), "mclust", ("normal", "variance"), "gaussian"),
    ("regression", 1, "p + 2", regression, "flexmix, mixtools", ("regression",), "regression"),
    ("Poisson regression", 1, "p + 1", counts, "flexmix, mixtools", ("counts",), "count_regression"),
    ("normal, Poisson, binary", 3, "4", mixed, "flexmix, StepMix, Latent GOLD", ("product", "partial"), "mixed"),
    (
        "Poisson", 1, "d", lambda rng, n: gopfast.PoissonMixture(rng.poisson(np.where(halves(rng, n) == 0, 2, 9)), 2),
        "flexmix, StepMix", ("exponential",), "poisson",
    ),
    (
        "exponential", 1, "d",
        lambda rng, n: gopfast.ExponentialMixture(rng.exponential(np.where(halves(rng, n) == 0, 1.0, 12.0)), 2),
        "flexmix", ("exponential",), "exponential",
    ),
    (
        "Gamma", 1, "2 d",
        lambda rng, n: gopfast.GammaMixture(
            rng.gamma(np.where(halves(rng, n) == 0, 2.0, 12.0), 1.0), 2
        ),
        "flexmix, mixtools", ("gamma", "shape"), "gamma",
    ),
    (
        "Bernoulli", 4, "d", lambda rng, n: gopfast.BernoulliMixture(labels(rng, n) == "yes", 2),
        "flexmix, StepMix", ("exponential",), "bernoulli",
    ),
    (
        "latent classes", 4, "sum of C_j - 1", lambda rng, n: gopfast.LatentClass(labels(rng, n), 2),
        "poLCA, StepMix, Latent GOLD", ("exponential",), "categorical",
    ),
    (
        "multinomial", 4, "d - 1",
        lambda rng, n: gopfast.MultinomialMixture(
            rng.multinomial(20, np.array([[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]])[halves(rng, n)[:, 0]]), 2
        ),
        "mixtools", ("exponential",), "multinomial",
    ),
)  # fmt: skip


def lines_of(modules, problem):
    """Lines of a family's compiled modules and of its problem, without blank ones; the former are often shared."""
    compiled = [ROOT / FAMILIES / f"{name}.{kind}" for name in modules for kind in ("pyx", "pxd")]
    parts = [path for path in compiled if path.exists()], [ROOT / PROBLEMS / f"{problem}.py"]
    return [sum(sum(map(bool, map(str.strip, path.read_text().splitlines()))) for path in part) for part in parts]


def climbed(make, seconds, most, threads):
    """Return the largest number of samples proved, its nodes and seconds, and what was left of the next one."""
    n, best = FEWEST, ("-", "-", "-")
    while n <= most:
        problem = make(np.random.default_rng(n), n)
        began = time.perf_counter()
        try:
            result = gopfast.solve(problem, EPSILON, time_limit=seconds, n_threads=threads, log=False)
        except gopfast.InputError:
            return best, f"{n:,}: refused"
        if not result.success:
            return best, f"{n:,}: {result.gap:.2g} nats"
        best = f"{n:,}", f"{result.n_nodes:,}", f"{time.perf_counter() - began:.1f}"
        n *= 4
    return best, f"not tried above {most:,}"


def has_rule(make):
    """Whether the checker has a rule for the family."""
    return "no" if make(np.random.default_rng(0), 12)._record_of_proof() is None else "yes"


def row(name, d, parameters, found, make, peers, modules, problem):
    """Return a row of the table, of what searches found and of what the code says."""
    lines = " + ".join(map(str, lines_of(modules, problem)))
    return f"| {' | '.join((name, str(d), parameters, *found, has_rule(make), peers, lines))} |"


def keep(path):
    """Write the table once more, with what its searches found."""
    text = path.read_text().splitlines()
    places = {tuple(cell.strip() for cell in line.split("|")[1:3]): i for i, line in enumerate(text) if "|" in line}
    for name, d, parameters, *others in ROWS:
        i = places[name, str(d)]
        found = [cell.strip() for cell in text[i].split("|")[4:8]]
        text[i] = row(name, d, parameters, found, *others)
    path.write_text("\n".join(text) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--most", type=int, default=3200)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--output", type=Path, default=ROOT / "bench/results/models.md")
    parser.add_argument("--keep", action="store_true", help="what searches found is that of the table, all else anew")
    options = parser.parse_args()
    if options.keep:
        keep(options.output)
        return
    text = [
        "# Families",
        "",
        f"Two components that overlap, epsilon {EPSILON}, threads {options.threads}: the largest n of {FEWEST}, "
        f"{4 * FEWEST}, ... that is proved in {options.seconds:g} s, and the gap that the next one leaves, on a "
        "machine that others may have loaded. A component's parameters "
        "are those beside its weight. Lines without blank ones, of the compiled family (which several share) and of "
        "the problem.",
        "",
        f"`python bench/models.py --seconds {options.seconds:g} --most {options.most} --threads {options.threads}`",
        "",
        "| family | columns | parameters | largest n proved | nodes | seconds | next | checker | peers | lines |",
        "| --- | --: | --- | --: | --: | --: | --- | --- | --- | --: |",
    ]
    for name, d, parameters, make, peers, modules, problem in ROWS:
        (n, nodes, taken), rest = climbed(make, options.seconds, options.most, options.threads)
        text.append(row(name, d, parameters, (n, nodes, taken, rest), make, peers, modules, problem))
        print(text[-1], flush=True)
    options.output.write_text("\n".join(text) + "\n")


if __name__ == "__main__":
    main()
