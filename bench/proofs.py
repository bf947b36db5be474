"""Size of proofs, time to write and to check them, random problems and changed proofs; writes bench/results/proofs.md.

Run: python bench/proofs.py [--quick] [--time-limit S] [--folder FOLDER] [--no-tables | --no-random] [--jobs N]

About an hour; --quick: 300 random problems, 280 changes. FOLDER holds the data sets of bench/clustering.py.

Rows are those of speed.md, real_data.md, regressions.md, shared_parameters.md, latent_classes.md, clustering.md and
biconvex.md that proofs cover and that keep all samples in one pass of the checker, and some of Gaussian posteriors.
Parts that were not asked for stay as they are in the file.
"""

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import biconvex_table
import clustering
import latent_classes
import machine
import numpy as np
import real_table
import regressions
import shared_parameters
import speed_table
from sklearn.datasets import load_iris

import gopfast
from gopfast.biconvex import proof as biconvex_proof
from gopfast.checker import file
from gopfast.clustering import solve as clustering_solve
from gopfast.mixtures.recording import Recorder
from gopfast.parallel import outcomes

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.property import test_biconvex_proofs as biconvex_tests, test_clustering_proofs as clustering_tests
from tests.support import proofs

EPSILON, RANDOM_EPSILON, GAP = 0.01, 0.1, 1e-6
MOST_SAMPLES = 100_000
HEADER = (
    "problem", "size", "nodes, without and with", "status", "gap", "solve s", "with proof s", "of it writing",
    "writing / solve", "check s", "check / solve", "kB", "verdict",
)  # fmt: skip


def problems(folder):
    """Problems of the tables by name, with the options of their solves."""
    for name, (data, K, prior, _, _) in speed_table.ROWS.items():
        yield (
            name,
            lambda data=data, K=K, prior=prior: gopfast.GaussianMixture(data(), K, prior=prior, covariance="known"),
            {},
        )
    for name, row in real_table.ROWS.items():
        yield name, row.problem, {}
    for (data, model), numbers in shared_parameters.COMPONENTS.items():
        for K in numbers:
            if model != "empirical prior":
                yield f"{data}, {model}, {K}", lambda row=(data, model, K): shared_parameters.problem(*row), {}
    for K in (2, 3):
        yield (
            f"galaxies, Gaussian posterior, {K}",
            lambda K=K: gopfast.GaussianMixture(
                shared_parameters.DATA["galaxies"](), K, prior="empirical", posterior="gaussian"
            ),
            {},
        )
    for name, X, y, given in regressions.cases():
        if X.ndim == 1:
            yield (
                f"{name}, {'known' if given else 'free'} variance",
                lambda X=X, y=y, given=given: gopfast.RegressionMixture(X, y, 2, **given),
                {},
            )
    for name, K in latent_classes.PUBLISHED:
        if K > 1:
            yield f"{name}, {K} classes", lambda name=name, K=K: gopfast.LatentClass(latent_classes.table(name), K), {}
    for name, numbers, _ in clustering.CASES:
        path = Path(folder or ".") / f"{name}.csv"
        if name != "iris" and not path.exists():
            continue
        X = load_iris().data if name == "iris" else np.loadtxt(path, delimiter=",", skiprows=1)
        for K in numbers:
            yield f"k-means {name}, {K}", lambda X=X, K=K: gopfast.KMeans(X, K), {"epsilon": None, "rel_tol": GAP}
    for path in sorted(biconvex_table.FOLDER.glob("*.json")):
        options = {"epsilon": GAP, "rel_tol": GAP}
        yield path.stem, lambda path=path: gopfast.BiconvexProblem.from_json(path), options


class Clock:
    """Adds up the process's seconds in functions."""

    def __init__(self):
        self.seconds = 0.0

    def watch(self, owner, name):
        """Time calls of a function."""
        function = getattr(owner, name)

        def timed(*arguments, **options):
            self.seconds -= time.process_time()
            try:
                return function(*arguments, **options)
            finally:
                self.seconds += time.process_time()

        setattr(owner, name, timed)


def timed(function, *arguments, **options):
    """Seconds of the process, and what is returned."""
    started = time.process_time()
    found = function(*arguments, **options)
    return max(time.process_time() - started, 1e-6), found


def size_of(problem):
    """Samples, or variables and rows."""
    if isinstance(problem, gopfast.BiconvexProblem):
        return f"{problem.n_variables} x {problem.n_rows}"
    return f"{problem.n_samples:,}"


def covered(problem):
    """Whether proofs have entries for a problem, and it is small enough."""
    if isinstance(problem, gopfast.BiconvexProblem):
        return True
    return problem._record_of_proof() is not None and problem.n_samples <= MOST_SAMPLES


def cells(name, problem, options, limit, clock):
    """One line of the table."""
    common = {"epsilon": EPSILON, "time_limit": limit, "n_threads": 1, "log": False} | options
    solve, plain = timed(gopfast.solve, problem, **common)
    clock.seconds = 0.0
    total, result = timed(gopfast.solve, problem, proof=True, **common)
    write = clock.seconds
    line = [
        name, size_of(problem), f"{plain.n_nodes:,} / {result.n_nodes:,}", f"{plain.status.name} / {result.status.name}"
        if plain.status is not result.status else result.status.name, f"{result.gap:.2g}", f"{solve:.3g}",
        f"{total:.3g}", f"{write:.3g}", f"{write / max(total - write, 1e-6):.2g}",
    ]  # fmt: skip
    if result.proof is None:
        return [*line, "", "", "", result.notes[-1]]
    seconds, found = timed(verdict, result.proof, problem)
    ratio = seconds / max(total - write, 1e-6)
    return [*line, f"{seconds:.3g}", f"{ratio:.2g}", f"{result.proof.size / 1000:.0f}", found]


def arguments_of(problem):
    """What the checker takes beside a proof."""
    if isinstance(problem, gopfast.BiconvexProblem):
        return (problem,)
    if isinstance(problem, gopfast.KMeans):
        return problem.X, problem.sample_weight, problem
    return (*proofs.arguments(problem), problem)


def verdict(proof, problem):
    """Accepted, or what the checker says."""
    try:
        gopfast.check(proof, *arguments_of(problem))
    except gopfast.ProofError as error:
        return str(error)
    return "accepted"


def random_problem(seed):
    """A random problem, its kind and the options of its solve."""
    kinds = (*proofs.FAMILIES, "k-means", "biconvex")
    kind, rng = kinds[seed % len(kinds)], np.random.default_rng([seed, 1])
    if kind == "k-means":
        return kind, clustering_tests.random_problem(rng, 30), {}
    if kind == "biconvex":
        return kind, biconvex_tests.random_problem(rng), {}
    return kind, proofs.random_problem(rng, kind), {"epsilon": RANDOM_EPSILON}


def random_verdict(seed):
    """The kind of a random problem, and the verdict on its proof."""
    kind, problem, options = random_problem(seed)
    if seed % 2:  # with prices, where there are any
        options |= proofs.options(kind, proofs.OF_PRICES[0])
    result = gopfast.solve(problem, proof=True, n_threads=1, max_nodes=1000, log=False, **options)
    return kind, result.notes[-1] if result.proof is None else verdict(result.proof, problem)


def random_problems(number, n_jobs=None):
    """Verdicts on proofs of random problems, by kind."""
    counts = Counter(outcomes(random_verdict, range(number), n_jobs))
    return [[kind, found, f"{n:,}"] for (kind, found), n in sorted(counts.items())]


def changes(number, path):
    """Verdicts on changed proofs, by kind of change: half of them mixtures, a quarter each of the others."""
    counts = Counter()
    for seed in range(number):
        kind = ("mixture", "k-means", "mixture", "biconvex")[seed % 4]
        name, found = {"mixture": mixture_change, "k-means": clustering_change, "biconvex": biconvex_change}[kind](
            seed, path
        )
        counts[kind, name, found] += 1
    return [[kind, name, found, f"{n:,}"] for (kind, name, found), n in sorted(counts.items())]


def mixture_change(seed, path):
    """Change a proof of a mixture: the kind of change, and the verdict."""
    name = list(proofs.CHANGES)[seed // 2 % len(proofs.CHANGES)]
    rng = np.random.default_rng([seed, 2])
    family = proofs.FAMILIES[rng.integers(len(proofs.FAMILIES))]
    problem, own = proofs.random_problem(rng, family), proofs.options(family, name)
    result = gopfast.solve(problem, RANDOM_EPSILON, proof=path, n_threads=1, max_nodes=1000, log=False, **own)
    header, arrays = proofs.parts(path)
    X, weights = proofs.CHANGES[name](rng, header, arrays, *proofs.arguments(problem))
    proofs.put(path, header, arrays)
    return name, proofs.verdict(path, problem, X, weights, result.objective)


def clustering_change(seed, path):
    """Change a proof of a clustering; one that is still accepted must claim no more than is attained."""
    name = list(clustering_tests.CHANGES)[seed // 4 % len(clustering_tests.CHANGES)]
    problem = clustering_tests.random_problem(np.random.default_rng([seed, 3]), 30)
    result = gopfast.solve(problem, proof=True, n_threads=1, log=False)
    header, arrays = clustering_tests.parts(result)
    clustering_tests.CHANGES[name](header, arrays)
    try:
        found = gopfast.check(file.pack("clustering", header, arrays), problem.X, problem.sample_weight)
    except gopfast.ProofError:
        return name, "refused"
    other = found.problem != problem._record_of_proof()
    return name, "true" if other or found.lower_bound <= result.objective * (1 + 1e-12) else "false"


def biconvex_change(seed, path):
    """Forge a proof of a biconvex problem; all that these claim is false."""
    forge = biconvex_tests.FORGERIES[seed // 4 % len(biconvex_tests.FORGERIES)]
    problem = biconvex_tests.forged(forge, seed, path)
    if problem is None:
        return forge.__name__, "no solution to forge"
    return forge.__name__, "false" if verdict(path, problem) == "accepted" else "refused"


def tables(options):
    """Text of the table of published problems."""
    clock, rows, left_out = Clock(), [], []
    for name in ("splits", "leaves", "finish"):
        clock.watch(Recorder, name)
    clock.watch(biconvex_proof, "with_proof")
    clock.watch(clustering_solve, "with_proof")
    for name, make, own in problems(options.folder):
        problem = make()
        if not covered(problem):
            left_out.append(name)
            continue
        rows.append(cells(name, problem, own, options.time_limit, clock))
        print(rows[-1], flush=True)
    return f"""`gopfast.solve(problem, proof=True, n_threads=1)`, limit {options.time_limit:g} s, mixtures to
{EPSILON} nats, others to a relative gap of {GAP:g}; then `gopfast.check` with the problem. Seconds of the process.
"solve" is a solve without a proof, the ratios are to the search of the solve with one. Searches of mixtures for proofs
do without what has no entry, (V8) of docs/theory/proofs.md; where a limit came first the proof is of the bound
reached. Left out:
{", ".join(left_out)} (no entry, or more than {MOST_SAMPLES:,} samples, which a search for a proof passes over at every
node).

{machine.table(HEADER, rows)}"""


def random_text(options):
    """Text of the random problems and the changes."""
    n_random, n_changes = (300, 280) if options.quick else (10_000, 1_000)
    with tempfile.TemporaryDirectory() as folder:
        random = random_problems(n_random, options.jobs)
        changed = changes(n_changes, os.path.join(folder, "proof.npz"))
    return f"""{n_random:,} small problems, commit {machine.commit()}.

{machine.table(("kind", "verdict", "number"), random)}
## Changed proofs

{n_changes:,} changes. "true": accepted, and what it claims is true of the problem that it names all the same.

{machine.table(("kind", "change", "verdict", "number"), changed)}"""


def main():
    """Write the report."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--quick", action="store_true")
    arguments.add_argument("--time-limit", type=float, default=60.0)
    arguments.add_argument("--folder")
    arguments.add_argument("--no-tables", action="store_true")
    arguments.add_argument("--no-random", action="store_true")
    arguments.add_argument("--jobs", type=int, help="random problems at a time, by joblib")
    options = arguments.parse_args()
    path = machine.RESULTS / "proofs.md"
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    first, _, rest = old.partition("\n## Random problems\n")
    random, _, faults = rest.partition("\n## Faults compiled into the core\n")
    if not options.no_tables:
        first = f"{machine.heading('Proofs', 'scikit-learn')}\n{tables(options)}"
    if not options.no_random:
        random = "\n" + random_text(options)
    text = f"{first.rstrip()}\n\n## Random problems\n{random.rstrip()}\n"
    if faults:
        text += f"\n## Faults compiled into the core\n{faults}"
    machine.write("proofs.md", text)


if __name__ == "__main__":
    main()
