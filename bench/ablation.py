"""What every mechanism is worth: problems with all of them, and with each one switched off; writes results/ablation.md.

Run: python bench/ablation.py [--seconds 20] [--seeds 0 1 2] [--cases TEXT]     (with these defaults about two hours)
     python bench/ablation.py --short                     (one seed, at most 5 s for each solve: about 20 minutes)
     python bench/ablation.py --everyday --seconds 10 --seeds 0   (what bounds everyday data: ablation_everyday.md)

Only mechanisms that were at work on a problem are switched off there. Processor seconds are those of the process; of
several seeds the median counts. Terms are exact (`gopfast.profile`), and do not say what a term costs.
"""

import argparse
import math
import statistics
import time
from pathlib import Path

import datasets
import machine
import numpy as np
from everyday_cases import Case, tables
from speed_table import line

import gopfast
from gopfast.mechanisms import MECHANISMS, SWITCHES

RESULT = Path(__file__).resolve().parent / "results" / "ablation.md"
RESULT_OF_EVERYDAY = RESULT.with_name("ablation_everyday.md")
SECONDS, SEEDS = 20.0, (0, 1, 2)
SHORT_SECONDS, SHORT_SEEDS = 5.0, (0,)
EPSILON = 0.01
ALL = "(all on)"
ASKED = ", prices asked for"  # ends the names of cases that are solved with relaxation="pricing"
MUCH = 1.25  # ratios of work from here on, or below 1 / MUCH, are told apart from 1


def standardised(X):
    """Columns of mean 0 and variance 1."""
    return (X - X.mean(axis=0)) / X.std(axis=0)


def iris():
    """The 150 flowers of scikit-learn's copy, standardised."""
    from sklearn.datasets import load_iris

    return standardised(load_iris().data)


def wine():
    """The 178 wines of scikit-learn's copy, standardised."""
    from sklearn.datasets import load_wine

    return standardised(load_wine().data)


def faithful():
    """Old Faithful in units in which both columns vary by a few."""
    return datasets.faithful() * np.array([2.0, 1.0 / 7.0])


def francs():
    """One hundred Swiss francs: a table of two items of four levels."""
    table = np.full((4, 4), 2) + 2 * np.eye(4, dtype=int)
    return np.repeat(np.argwhere(table >= 0), table.ravel(), axis=0)


def plane(n_samples, n_components, gap, seed=0):
    """Clusters of variance 1 in two columns."""
    rng = np.random.default_rng(seed)
    centers = gap * np.stack([np.arange(n_components), rng.uniform(-0.5, 0.5, n_components)], axis=1)
    return centers[rng.integers(n_components, size=n_samples)] + rng.standard_normal((n_samples, 2))


def gaussian(X, n_components, covariance="known", floor=None):
    """A Gaussian mixture; of known variance without a floor."""
    options = {} if floor is None else {"variance_floor": floor}
    return gopfast.GaussianMixture(X, n_components, covariance=covariance, **options)


def labels(name, n_components):
    """Latent classes of one of the package's tables."""
    return gopfast.LatentClass(gopfast.datasets.load_labels(name)[0], n_components)


CASES = {
    "galaxies, known, K=5": lambda: gaussian(datasets.galaxies(), 5),
    "galaxies, diag, K=4": lambda: gaussian(datasets.galaxies(), 4, "diag", 0.09),
    "galaxies, diag, K=5": lambda: gaussian(datasets.galaxies(), 5, "diag", 0.09),
    "galaxies, diag, K=6": lambda: gaussian(datasets.galaxies(), 6, "diag", 0.09),
    "N=1,000, gap 4, known, K=8": lambda: gaussian(line(1000, 8, 4), 8),
    "N=1,000, gap 4, known, K=9": lambda: gaussian(line(1000, 9, 4), 9),
    "N=1,000, gap 4, known, K=12": lambda: gaussian(line(1000, 12, 4), 12),
    "N=200,000, gap 4, known, K=3": lambda: gaussian(line(200_000, 3, 4), 3),
    "two columns, N=600, known, K=6": lambda: gaussian(plane(600, 6, 4.0), 6),
    "acidity, diag, K=4": lambda: gaussian(datasets.acidity(), 4, "diag", 0.01),
    "acidity, standardised, diag, K=5": lambda: gaussian(standardised(datasets.acidity()), 5, "diag", 0.01),
    "faithful, diag, K=3": lambda: gaussian(faithful(), 3, "diag", 0.04),
    "faithful, full, K=2": lambda: gaussian(faithful(), 2, "full", 0.04),
    "faithful, tied, K=3": lambda: gaussian(faithful(), 3, "tied", 0.04),
    "faithful, tied, K=4": lambda: gaussian(faithful(), 4, "tied", 0.04),
    "faithful, tied_spherical, K=3": lambda: gaussian(standardised(datasets.faithful()), 3, "tied_spherical", 0.01),
    "faithful, spherical, K=4": lambda: gaussian(standardised(datasets.faithful()), 4, "spherical", 0.01),
    "iris, spherical, K=3": lambda: gaussian(iris(), 3, "spherical", 0.01),
    "iris, diag, K=2": lambda: gaussian(iris(), 2, "diag", 0.01),
    "iris, tied, K=2": lambda: gaussian(iris(), 2, "tied", 0.01),
    "iris, full, K=2": lambda: gaussian(iris(), 2, "full", 0.01),
    "wine, spherical, K=2": lambda: gaussian(wine(), 2, "spherical", 0.01),
    "values, K=3": lambda: labels("values", 3),
    "carcinoma, K=3": lambda: labels("carcinoma", 3),
    "cheating, K=2": lambda: labels("cheating", 2),
    "gss82, K=2": lambda: labels("gss82", 2),
    "acidity, diag, K=4" + ASKED: lambda: gaussian(datasets.acidity(), 4, "diag", 0.01),
    "faithful, diag, K=3" + ASKED: lambda: gaussian(faithful(), 3, "diag", 0.04),
    "N=30,000, gap 4, diag, K=2": lambda: gaussian(line(30_000, 2, 4), 2, "diag", 0.01),
    "two columns, N=50,000, diag, K=2": lambda: gaussian(plane(50_000, 2, 4.0), 2, "diag", 0.01),
    "Swiss francs, K=2": lambda: gopfast.LatentClass(francs(), 2),
}


def simulated(n_samples, n_columns, n_components, apart, kind):
    """A case of `everyday.py`, by name."""
    case = Case("", n_samples, n_columns, n_components, apart, kind)
    return {case.name: lambda: gaussian(case.samples(0), n_components, kind)}


# Data of which a bound is the most that is to be had in seconds: what is open tells what a mechanism is worth.
EVERYDAY = {
    **simulated(2_000, 10, 3, 6.0, "spherical"),
    **simulated(20_000, 5, 4, 6.0, "known"),
    **simulated(20_000, 2, 3, 3.5, "diag"),
    **simulated(20_000, 3, 4, 6.0, "diag"),
    **simulated(5_000, 5, 3, 6.0, "diag"),
    **simulated(5_000, 2, 3, 6.0, "full"),
    **simulated(2_000, 2, 3, 6.0, "tied"),
    **simulated(2_000, 3, 2, 6.0, "full"),
    "iris, full, K=2": CASES["iris, full, K=2"],
    "iris, full, K=3": lambda: gaussian(iris(), 3, "full", 0.01),
    "wine, columns 0, 6 and 9, full, K=2": lambda: gaussian(wine()[:, [0, 6, 9]], 2, "full", 0.01),
    "customers, diag, K=4": lambda: gaussian(standardised(tables()["customers"]), 4, "diag", 0.01),
}

# What a case is solved with; others: nothing but the tolerance.
OPTIONS = {name: {"relaxation": "pricing"} for name in CASES if name.endswith(ASKED)}


class Run:
    """A solve with some mechanisms off: what it reached, and what that took."""

    def __init__(self, case, problem, off, seed, seconds):
        started = time.process_time()
        with gopfast.settings(**dict.fromkeys(off, False)):
            result = gopfast.solve(
                problem, EPSILON, n_threads=1, time_limit=seconds, random_state=seed, log=False, **OPTIONS.get(case, {})
            )
        self.seconds = time.process_time() - started
        self.profile, self.gap, self.n_nodes, self.success = result.profile, result.gap, result.n_nodes, result.success


class Row:
    """Runs of a case with the same mechanisms off, by seeds."""

    def __init__(self, case, off, runs, base=None):
        self.case, self.off, self.base = case, off, self if base is None else base
        self.n_proved, self.n_runs = sum(run.success for run in runs), len(runs)
        self.gap = statistics.median(run.gap for run in runs)
        self.n_nodes = statistics.median(run.n_nodes for run in runs)
        self.n_terms = statistics.median(run.profile.n_terms for run in runs)
        self.seconds = statistics.median(run.seconds for run in runs)

    @property
    def terms_ratio(self):
        """Work with the mechanism off, relative to all on."""
        return self.n_terms / max(self.base.n_terms, 1)

    @property
    def gap_ratio(self):
        """What is open, relative to all on, both at least at the tolerance."""
        return max(self.gap, EPSILON) / max(self.base.gap, EPSILON)

    @property
    def seconds_ratio(self):
        """The same of processor seconds."""
        return self.seconds / max(self.base.seconds, 1e-9)

    def __str__(self):
        beside = self.base is not self
        terms = f" ({self.terms_ratio:.2f})" if beside else ""
        seconds = f" ({self.seconds_ratio:.2f})" if beside else ""
        return (
            f"| {self.case if not beside else ''} | {self.off or ALL} | {self.n_proved} of {self.n_runs} | "
            f"{self.gap:.4g} | {self.n_nodes:,.0f} | {self.n_terms / 1e6:,.2f}{terms} | {self.seconds:.3g}{seconds} |"
        )


def measure(case, problem, seeds, seconds):
    """The rows of a case."""
    base = [Run(case, problem, (), seed, seconds) for seed in seeds]
    rows = [Row(case, "", base)]
    for name in SWITCHES:
        if any(name in run.profile and run.profile[name].calls for run in base):
            rows.append(Row(case, name, [Run(case, problem, (name,), seed, seconds) for seed in seeds], rows[0]))
    return rows


def mean(ratios):
    """Geometric mean."""
    return math.exp(statistics.fmean(math.log(max(ratio, 1e-9)) for ratio in ratios))


def totals(rows):
    """One line for each mechanism: where it was at work, what its absence costs."""
    for mechanism in MECHANISMS:
        own = [row for row in rows if row.off == mechanism.name]
        if not own:
            continue
        both = [row for row in own if row.n_proved == row.base.n_proved == row.n_runs]
        lost = [row.case for row in own if row.n_proved < row.base.n_proved]
        won = [row.case for row in own if row.n_proved > row.base.n_proved]
        terms, cpu = ([getattr(row, name) for row in both] for name in ("terms_ratio", "seconds_ratio"))
        work = f"{mean(terms):.2f} | {mean(cpu):.2f}" if both else " | "
        better = sum(row.terms_ratio > MUCH for row in both)
        worse = sum(row.terms_ratio < 1 / MUCH for row in both)
        open_still = [row.gap_ratio for row in own if row not in both]
        gap = f"{mean(open_still):.3g}" if open_still else ""
        yield (
            f"| {mechanism.name} | {len(own)} | {len(both)} | {work} | {better} | {worse} | {gap} | "
            f"{'; '.join(lost) or '-'} | {'; '.join(won) or '-'} |"
        )


def report(rows, options):
    """The whole file."""
    seconds, seeds = options.seconds, options.seeds
    return "\n".join([
        machine.heading("What every mechanism is worth", "scikit-learn"),
        f"`python bench/ablation.py {'--everyday ' if options.everyday else ''}--seconds {seconds:g} "
        f"--seeds {' '.join(map(str, seeds))}`", "",
        f"One thread, at most {seconds:g} s, epsilon {EPSILON}, seeds {', '.join(map(str, seeds))} (medians).",
        "A mechanism is switched off where it was at work (`gopfast.settings`, docs/guide.md). Terms: costs of samples",
        "in components, in millions, of all mechanisms together; in brackets relative to all on.", "",
        "## By mechanism", "",
        f"Means are geometric, of cases proved with and without; helps, harms: cases of more than {MUCH} times, or",
        f"fewer than 1 / {MUCH} times, the terms without it. Open: the gap of all other cases, relative to all on.", "",
        "| without | at work in | proved both ways | terms | CPU s | helps | harms | open | no longer proved | "
        "proved only without |",
        "| --- " * 10 + "|",
        *totals(rows), "",
        "## By case", "",
        "| case | off | proved | gap | nodes | terms, 10^6 | CPU s |", "| --- " * 7 + "|",
        *map(str, rows), "",
    ])  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=SECONDS, help="time limit of a solve")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS))
    parser.add_argument("--cases", default="", help="only those whose names have this text; nothing is written then")
    parser.add_argument("--everyday", action="store_true", help="everyday data, most of which are not proved")
    parser.add_argument("--short", action="store_true", help="seconds and seeds of a short run")
    options = parser.parse_args()
    if options.short:
        options.seconds, options.seeds = SHORT_SECONDS, list(SHORT_SEEDS)
    rows = []
    cases, path = (EVERYDAY, RESULT_OF_EVERYDAY) if options.everyday else (CASES, RESULT)
    for case, make in cases.items():
        if options.cases in case:
            rows += measure(case, make(), options.seeds, options.seconds)
            print("\n".join(str(row) for row in rows if row.case == case), flush=True)
            if not options.cases:  # what is measured is kept
                path.write_text(report(rows, options), encoding="utf-8")
    print("\n".join(totals(rows)))


if __name__ == "__main__":
    main()
