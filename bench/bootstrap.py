"""Bootstrap of the galaxies with a proof of every resample, beside scikit-learn; writes bench/results/bootstrap.md.

Run: OMP_NUM_THREADS=1 python bench/bootstrap.py [--resamples 1000] [--print]     (about 10 minutes)
"""

import argparse
import time
import warnings

import machine
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture as SklearnMixture
from sklearn_misses import MISS, POLISH, raised

import gopfast
from gopfast.inference.resampling import _aligned, resampled

K, FLOOR, SEED = 3, 0.09, 0
STARTS = (1, 10)  # n_init of scikit-learn
NAMES = ("weights", "means", "covariances")
TEXT = """
{n:,} resamples of the 82 galaxies (1000 km/s) with replacement, {K} components with variances of at least {floor}.
gopfast solves each to a gap of at most 0.01 nats; proved are {proved:,}. Scikit-learn's `GaussianMixture` with its
defaults and `n_init` as given has the same resamples; its fits are raised to the floor and polished by EM until a
step gains less than 1e-8 nats, which is in its favour. A fit *misses* that ends more than {miss} nats above the proved
optimum. Components are matched with those of the data's fit in the same way for all.
"""


def scikit_learn(problem, n_init, seed):
    """Objective and state of scikit-learn's fit of a resample, polished."""
    counts = problem.sample_weight.astype(int)
    fit = SklearnMixture(K, covariance_type="diag", n_init=n_init, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit.fit(np.repeat(problem.X, counts, axis=0))
    covariances = raised(fit.covariances_, problem.variance_floor)
    start = {"weights": fit.weights_, "means": fit.means_, "covariances": covariances}
    polished = gopfast.local.em(problem, start, **POLISH)
    return polished.objective, {"weights": polished.solution.weights, **polished.solution.parameters}


def run(n, n_jobs=None):
    """Objectives and states of all methods, by name, and seconds of each."""
    X = gopfast.datasets.load("galaxies") / 1000
    problem = gopfast.GaussianMixture(X, K, covariance="diag", variance_floor=FLOOR)
    started = time.process_time()
    found = gopfast.bootstrap(problem, n, random_state=SEED, n_jobs=n_jobs, log=True)
    every = {"weights": found.weights, **found.parameters}
    states = [{name: values[b] for name, values in every.items()} for b in range(n)]
    runs = {"gopfast, proved": (found.objectives, states, time.process_time() - started)}
    seeds = np.random.SeedSequence(SEED).spawn(n)
    for n_init in STARTS:
        started = time.process_time()
        pairs = [
            scikit_learn(resampled(problem, np.random.default_rng(seed)), n_init, b) for b, seed in enumerate(seeds)
        ]
        states = [_aligned(found.fit.solution, state) for _, state in pairs]
        objectives = np.array([value for value, _ in pairs])
        runs[f"scikit-learn, n_init={n_init}"] = (objectives, states, time.process_time() - started)
    return found, runs


def numbers(state):
    return np.concatenate([np.ravel(state[name]) for name in NAMES])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--jobs", type=int, help="resamples at a time, by joblib; their seconds are then not counted")
    parser.add_argument("--print", action="store_true", help="print the report, and do not write it")
    arguments = parser.parse_args()
    head = machine.heading("Bootstrap with a proof of every resample", "scikit-learn")
    found, runs = run(arguments.resamples, arguments.jobs)
    best = found.objectives
    labels = [f"{name[:-1]} {k}" for name in NAMES for k in range(K)]
    rows, summary = [], []
    errors = [np.std([numbers(state) for state in states], axis=0, ddof=1) for _, states, _ in runs.values()]
    information = [one.error for one in found.fit.summary().estimates]
    estimate = numbers({"weights": found.fit.solution.weights, **found.fit.solution.parameters})
    information = [*information[:K], *information[K::2], *information[K + 1 :: 2]]
    proved, *others = errors
    for i, label in enumerate(labels):
        cells = [f"{other[i]:.4g} ({100.0 * (other[i] / proved[i] - 1.0):+.0f} %)" for other in others]
        rows.append([label, f"{estimate[i]:.4g}", f"{information[i]:.4g}", f"{proved[i]:.4g}", *cells])
    for name, (objectives, _, seconds) in runs.items():
        excess = objectives - best
        missed = excess > MISS
        worst = f"{excess.max():.2f}" if missed.any() else "0"
        summary.append([name, f"{missed.sum():,}", f"{100.0 * missed.mean():.1f} %", worst, f"{seconds:.0f}"])
    text = TEXT.format(n=arguments.resamples, K=K, floor=FLOOR, proved=found.n_proved, miss=MISS)
    text += "\n" + machine.table(["method", "missed", "share", "worst excess (nats)", "process CPU seconds"], summary)
    text += "\nStandard errors; in brackets how far they are off for the optima that EM missed.\n\n"
    text += machine.table(["parameter", "estimate", "observed information", "bootstrap, proved", *list(runs)[1:]], rows)
    machine.write(None if arguments.print else "bootstrap.md", head + text)


if __name__ == "__main__":
    main()
