"""Mixtures of regressions on the data sets of the literature; writes bench/results/regressions.md.

Run: python bench/regressions.py [--limit 60] [--starts 500]     (about five minutes)
     python bench/regressions.py --counts      (Poisson and binomial ones alone, to count_regressions.md)
     python bench/regressions.py --published   (beside what peers print, to published_regressions.md)

Beside each the runs of EM, from lines through random samples, that end within 0.01 nats of the best objective known.
"""

import argparse
from pathlib import Path

import numpy as np

import gopfast
from gopfast import datasets
from gopfast.mixtures.problems import regression_starts

TOLERANCE = 0.01  # nats
RESULTS = Path(__file__).parent / "results"


def cases():
    """Yield a name, regressors, responses and the arguments of the model."""
    tone, co2, npreg = datasets.load_tonedata(), datasets.load_co2data(), datasets.load_npreg()
    parabola = np.column_stack([npreg[:, 0], npreg[:, 0] ** 2])
    for name, X, y, known in (
        ("tonedata", tone[:, 0], tone[:, 1], 0.005), ("co2data", co2[:, 0], co2[:, 1], 4.0),
        ("npreg on x", npreg[:, 0], npreg[:, 1], 3.0), ("npreg on x and its square", parabola, npreg[:, 1], 3.0),
    ):  # fmt: skip
        yield name, X, y, {}
        yield name, X, y, {"noise_variance": known}
        yield name, X, y, {"variance": "shared"}


def counts():
    """Yield a name, the number of components, regressors, responses and the arguments of models of counts."""
    npreg, fabric, patent = datasets.load_npreg(), datasets.load_fabricfault(), datasets.load_patent()
    poisson = {"family": "poisson"}
    yield "npreg, counts on x", 2, npreg[:, 0], npreg[:, 2], poisson
    yield "fabricfault", 2, np.log(fabric[:, 0]), fabric[:, 1], poisson
    yield "patent", 2, patent[:, 2], patent[:, 0], poisson
    yield "patent", 3, patent[:, 2], patent[:, 0], poisson
    seizures, hours, treated, day = datasets.load_seizure().T
    X = np.column_stack([treated, np.log(day), treated * np.log(day)])
    yield "seizure, treatment x log day", 2, X, seizures, {**poisson, "offset": np.log(hours)}
    deaths, total, centers, treated = datasets.load_betablocker().T
    binomial = {"family": "binomial", "n_trials": total}
    for K in (2, 3):
        yield "betablocker on treatment", K, treated, deaths, binomial
        yield "betablocker, one class per centre", K, treated, deaths, {**binomial, "groups": centers}
    remaining, total, _, species = datasets.load_tribolium().T
    X = np.column_stack([species == 2, species == 3]).astype(float)
    yield "tribolium on species", 2, X, remaining, {"family": "binomial", "n_trials": total}
    packages, stores = datasets.load_candy().T
    for K in range(1, 6):
        yield "candy", K, np.ones(21), packages, {**poisson, "fit_intercept": False, "sample_weight": stores}


def published():
    """Yield a model, where its log-likelihood is printed, that number, and the problem."""
    intro, examples = "flexmix, vignette *flexmix-intro*", "flexmix, vignette *regression-examples*"
    npreg, fabric, co2 = datasets.load_npreg(), datasets.load_fabricfault(), datasets.load_co2data()
    make, parabola = gopfast.RegressionMixture, np.column_stack([npreg[:, 0], npreg[:, 0] ** 2])
    yield "npreg on x and its square", intro, -642.5451, make(parabola, npreg[:, 1], 2)
    yield "npreg, counts on x", intro, -440.6424, make(npreg[:, 0], npreg[:, 2], 2, family="poisson")
    yield "co2data", "mixtools, vignette *mixtools*", -66.93977, make(co2[:, 0], co2[:, 1], 2)
    deaths, total, centers, treated = datasets.load_betablocker().T
    binomial = {"family": "binomial", "n_trials": total, "groups": centers}
    yield "betablocker by centre, K = 3", examples, -158.3095, make(treated, deaths, 3, **binomial)
    for K, value in ((2, -181.3308), (3, -159.3605), (4, -155.7540)):
        problem = make(treated, deaths, K, shared_coefficients=[0], **binomial)
        yield f"betablocker by centre, treatment shared, K = {K}", examples, value, problem
    problem = make(np.log(fabric[:, 0]), fabric[:, 1], 2, family="poisson", shared_coefficients=[0])
    yield "fabricfault, log length shared", examples, -86.33119, problem
    seizures, hours, treated, day = datasets.load_seizure().T
    X = np.column_stack([treated, np.log(day), treated * np.log(day)])
    problem = make(X, seizures, 2, family="poisson", offset=np.log(hours))
    yield "seizure, treatment x log day", examples, -376.1762, problem


def beside_published(limit):
    """Print and write the table of what is printed elsewhere."""
    lines = [
        "# Log-likelihoods that peers print", "",
        f"`python bench/regressions.py --published --limit {limit:g}`: vignettes of R packages (flexmix 2.3-20, "
        "mixtools), and what is found and proved here; floors are the default ones.",
        "", "| data | printed in | printed | found here | none is above | status | s |", "| --- " * 7 + "|",
    ]  # fmt: skip
    for name, source, value, problem in published():
        result = gopfast.solve(problem, time_limit=limit, log=False)
        lines.append(
            f"| {name} | {source} | {value} | {-result.objective:.5f} | {-result.lower_bound:.5f} "
            f"| {result.status.name} | {result.time:.1f} |"
        )
        print(lines[-1], flush=True)
    (RESULTS / "published_regressions.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def reached(problem, best, n_starts):
    """Return how many runs of EM end at the best objective."""
    rng, found = np.random.default_rng(0), []
    for _ in range(n_starts):
        state = problem.maximize(regression_starts.lines(problem, rng))
        found.append(gopfast.local.em(problem, state, tol=1e-9).objective)
    assert min(found) >= best - TOLERANCE, "EM has found a better one than the search"
    return sum(value <= best + TOLERANCE for value in found)


def variances_of(problem):
    """Say what is known of the variances."""
    if problem.noise_variance is not None:
        return f"known, {problem.noise_variance:g}"
    return f"{problem.variance} above {problem.variance_floor:.3g}"


def row(name, K, X, y, options, limit, n_starts):
    """Return a row of the table."""
    problem = gopfast.RegressionMixture(X, y, K, **options)
    result = gopfast.solve(problem, time_limit=limit, log=False)
    what = variances_of(problem) if problem.family == "normal" else f"{problem.family} | {K}"
    return (
        f"| {name} | {what} | {result.objective:.5f} | {result.gap:.3g} | {result.status.name} "
        f"| {result.n_nodes:,} | {result.n_passes:,} | {result.time:.1f} "
        f"| {reached(problem, result.objective, n_starts)} |"
    )


def main():
    """Solve all, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of a search")
    parser.add_argument("--starts", type=int, default=500, help="runs of EM")
    parser.add_argument("--counts", action="store_true", help="regressions of counts alone")
    parser.add_argument("--published", action="store_true", help="models whose log-likelihoods peers print")
    options = parser.parse_args()
    if options.published:
        beside_published(options.limit)
        return
    limit, n_starts = options.limit, options.starts
    title, flag, columns, path = "Mixtures of two regressions", "", "variances", RESULTS / "regressions.md"
    every = ((name, 2, X, y, given) for name, X, y, given in cases())
    if options.counts:
        title, flag, columns, path = (
            "Mixtures of regressions of counts", " --counts", "family | K", RESULTS / "count_regressions.md"
        )
        every = counts()
    lines = [
        f"# {title}", "",
        f"`python bench/regressions.py{flag} --limit {limit:g} --starts {n_starts}`; seconds of a machine that was "
        "shared.",
        "",
        f"| data | {columns} | objective | gap, nats | status | nodes | passes | s | EM, of {n_starts} |",
        "| --- " * (9 + options.counts) + "|",
    ]  # fmt: skip
    for case in every:
        lines.append(row(*case, limit, n_starts))
        print(lines[-1], flush=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
