"""Searches that are ended early and resumed, forged checkpoints, weights of extreme ratios.

Run: python bench/fuzz_survival.py --seconds 600 --seed 0 [--kinds kills,forged,weights]
     Deterministic by seed but for the time at which a signal arrives. The exit code is 1 if a case failed.
"""

import argparse
import collections
import os
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np
from fuzzing import forging

import gopfast

KINDS = ("kills", "forged", "weights")
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGKILL)
LATEST = 0.6  # seconds after which a search is ended: in its preparation, or soon after
CHILD = """
import sys
sys.path.insert(0, sys.argv[1])
import fuzz_survival
problem, options = fuzz_survival.drawn(sys.argv[2], int(sys.argv[3]))
print("begun", flush=True)
import gopfast
gopfast.solve(problem, checkpoint=sys.argv[4], checkpoint_every=0.0, log=False, n_threads=1, **options)
"""
# Runs a case of forgeries where a crash ends no more than that.
FORGED = """
import sys
sys.path.insert(0, sys.argv[1])
from fuzzing import forging
tell = lambda what: print(what, flush=True)
print("done", *forging.run(sys.argv[2], int(sys.argv[3]), 0.1, tell))
"""
MIXTURES = ("known", "diag", "pricing", "categorical")
NAMES = (*MIXTURES, "biconvex", "k-means")


def drawn(name, seed):
    """A problem that ends within seconds, and its options."""
    rng = np.random.default_rng([seed, 11])
    if name == "wide k-means":
        return gopfast.KMeans(rng.normal(size=(24, 12)) + 2.0 * rng.integers(0, 3, (24, 1)), 3), {"time_limit": 8.0}
    problem, options = forging.problems(rng)[name]
    tolerance = {"rel_tol": 1e-2} if name in ("biconvex", "k-means") else {"epsilon": 0.5}
    return problem, {key: options[key] for key in ("relaxation",) if key in options} | tolerance | {"time_limit": 8.0}


def bounds(result):
    """The bounds of a result, least first."""
    return tuple(sorted((result.lower_bound, result.objective)))


def child(*arguments):
    """Start a process on this folder's modules."""
    return subprocess.Popen(
        [sys.executable, "-c", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip


def kill(seed):
    """End a search early and go on with it; what differs from the search that nobody ended, or None."""
    rng = np.random.default_rng([seed, 12])
    name = str(rng.choice([*NAMES, "wide k-means"]))
    problem, options = drawn(name, seed)
    whole = gopfast.solve(problem, log=False, n_threads=1, **options)
    with tempfile.TemporaryDirectory() as folder:
        path, sent = os.path.join(folder, "search.checkpoint"), SIGNALS[rng.integers(len(SIGNALS))]
        process = child(CHILD, os.path.dirname(os.path.abspath(__file__)), name, seed, path)
        process.stdout.readline()
        time.sleep(rng.uniform(0.0, LATEST))
        process.send_signal(sent)
        process.communicate(timeout=120)
        if not os.path.exists(path):
            return name, "no checkpoint yet", None
        resumed = gopfast.resume(path, problem, log=False, n_threads=1, time_limit=options.get("time_limit"))
    said = (sent.name, *((str(one.status), one.n_nodes, *bounds(one)) for one in (whole, resumed)))
    size = 0.5 + 1e-2 * abs(whole.objective)  # tolerances of both
    wrong = resumed.lower_bound > whole.objective + 1e-9 * size or whole.lower_bound > resumed.objective + 1e-9 * size
    finished = whole.success and whole.time < 3.0
    wrong |= finished and (not resumed.success or abs(resumed.objective - whole.objective) > size)
    if whole.success and resumed.success and name in MIXTURES and sent != signal.SIGINT:  # the same search
        wrong |= (whole.n_nodes, *bounds(whole)) != (resumed.n_nodes, *bounds(resumed))
    return name, str(resumed.status), said if wrong else None


def forge(seed):
    """Forgeries of one kind of checkpoint."""
    name = NAMES[seed % len(NAMES)]
    process = child(FORGED, os.path.dirname(os.path.abspath(__file__)), name, seed)
    out, error = process.communicate(timeout=600)
    last = out.splitlines()[-1:]
    good = process.returncode == 0
    return name, " ".join(last) if good else "failed", None if good else (last, process.returncode, error[-800:])


def weigh(seed):
    """A problem with weights of extreme ratios: a bound, or one `InputError`."""
    rng = np.random.default_rng([seed, 13])
    n, d = int(rng.integers(2, 9)), int(rng.integers(1, 3))
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4)
    weight = np.where(rng.random(n) < 0.3, 1.0, 10.0 ** rng.uniform(-323.0, 150.0, n))
    K, name = int(rng.integers(1, n + 1)), ("k-means", "known", "diag")[seed % 3]
    try:
        problem = gopfast.KMeans(X, K, weight) if name == "k-means" else (
            gopfast.GaussianMixture(X, min(K, 3), covariance=name, sample_weight=weight))  # fmt: skip
        found = gopfast.solve(problem, log=False, n_threads=1, max_nodes=100, time_limit=1.0)
    except gopfast.InputError as error:
        return name, "refused", None if "sample_weight" in str(error) or "X" in str(error) else str(error)
    except Exception as error:
        return name, "failed", (repr(error), X.tolist(), weight.tolist(), K)
    good = np.isfinite(found.objective) and found.lower_bound <= found.objective
    return name, str(found.status), None if good else (bounds(found), X.tolist(), weight.tolist(), K)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", default=",".join(KINDS))
    arguments = parser.parse_args()
    cases, kinds = {"kills": kill, "forged": forge, "weights": weigh}, arguments.kinds.split(",")
    counts, failures = collections.Counter(), 0
    for kind in kinds:
        end, seed = time.monotonic() + arguments.seconds / len(kinds), 1_000_000 * arguments.seed
        while time.monotonic() < end:
            name, outcome, wrong = cases[kind](seed)
            counts[kind, name, outcome.split()[0]] += 1
            if wrong is not None:
                failures += 1
                print(f"{kind}:{seed} {name}: {wrong}", flush=True)
            seed += 1
    for (kind, name, outcome), n in sorted(counts.items()):
        print(f"{kind:8} {name:14} {outcome:14} {n}")
    print(f"{sum(counts.values())} cases, {failures} failures")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
