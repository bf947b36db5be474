"""Wrong signs and dropped terms, compiled into the core's bounds one after the other; what the checker says of them.

Run: python bench/proof_faults.py FOLDER     (about 10 minutes: FOLDER takes a copy of the source tree, built in place)

Prints a table for bench/results/proofs.md.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import machine

ROOT = Path(__file__).resolve().parents[1]
MIXTURES = "src/gopfast/mixtures/"
FAMILIES = MIXTURES + "families/"
# What is wrong, where, the text and what it becomes, and the problem that shows it.
FAULTS = (
    *(("none", FAMILIES + "gaussian.pyx", "", "", kind)
      for kind in ("known", "diag", "poisson", "priced", "tied_spherical", "tied", "full", "posterior", "biconvex",
                   "k-means")),
    ("known variance: the cell's half width with the wrong sign", FAMILIES + "gaussian.pyx",
     "costs.offsets[k] += CURVATURE * half * half * (1 + 8 * ROUND)",
     "costs.offsets[k] -= CURVATURE * half * half * (1 + 8 * ROUND)", "known"),
    ("known variance: a thousandth of it dropped", FAMILIES + "gaussian.pyx",
     "costs.offsets[k] += CURVATURE * half * half * (1 + 8 * ROUND)",
     "costs.offsets[k] += CURVATURE * half * half * 0.999", "known"),
    ("free variance: a hundredth of the half width dropped from omega", FAMILIES + "normal.pyx",
     "inner = slope * (v0 + half * half)", "inner = slope * (v0 + 0.99 * half * half)", "diag"),
    ("free variance: the half width dropped from omega", FAMILIES + "normal.pyx",
     "inner = slope * (v0 + half * half)", "inner = slope * v0", "diag"),
    ("shared variance: the half width dropped from omega", FAMILIES + "normal.pyx",
     "inner = slope * (v0 + half * half)", "inner = slope * v0", "tied_spherical"),
    ("shared matrix: a hundredth of the samples' second moments too much", FAMILIES + "tied.pyx",
     "out.constant = W * (x + inner - error)", "out.constant = W * (x + 1.01 * inner - error)", "tied"),
    ("shared matrix: the means' part with the wrong sign", FAMILIES + "tied.pyx",
     "costs.offsets[k] = x + self.cost.bend(", "costs.offsets[k] = x - self.cost.bend(", "tied"),
    ("shared matrix: entries cut by four fifths of what the means leave", FAMILIES + "tied.pyx",
     "lo[e] = max(lo[e], self.moments[e] - most", "lo[e] = max(lo[e], self.moments[e] - 0.8 * most", "tied"),
    ("shared matrix: the covariance within groups four times too large", FAMILIES + "tied.pyx",
     "self.least_within, self.bound_cost = least,", "self.least_within, self.bound_cost = 4 * least,", "tied"),
    ("matrices: half of the curvature in the slope dropped", FAMILIES + "full.pyx",
     "value - linear - curvature * s * s * (1 + 16 * ROUND)", "value - linear - 0.5 * curvature * s * s", "full"),
    ("matrices: the means' part dropped", FAMILIES + "full.pyx",
     "costs.offsets[k] = bent - constant +", "costs.offsets[k] = -constant +", "full"),
    ("matrices: variances cut at half of what samples can have", FAMILIES + "full.pyx",
     "hi[VARIANCE] = min(hi[VARIANCE], self.largest", "hi[VARIANCE] = min(hi[VARIANCE], 0.5 * self.largest", "full"),
    ("posterior: the chord at the upper end", FAMILIES + "gaussian.pyx",
     "out.constant += times * log(low) - slope * low", "out.constant += times * log(high) - slope * low", "posterior"),
    ("posterior: precisions as of nine tenths of the samples", FAMILIES + "gaussian.pyx",
     "high[a] = min(high[a], W + K * e_high * scale", "high[a] = min(high[a], 0.9 * W + K * e_high * scale",
     "posterior"),
    ("counts: the chord's upper end in place of the lower", FAMILIES + "exponential.pyx",
     "level = min(h0 + slope * (center - m0), h1 - slope * (m1 - center))", "level = h1", "poisson"),
    ("Jensen's term dropped", MIXTURES + "relaxations/entropic.pyx", "bound = sums.value + shift - W * worst +",
     "bound = sums.value + shift +", "known"),
    ("facets: the sign of their multipliers", MIXTURES + "relaxations/entropic.pyx", "row[facet.first + s] -= added",
     "row[facet.first + s] += added", "diag"),
    ("order of the components: boxes said to be empty that are not", FAMILIES + "family.pyx",
     "        if low[k * n_cell] > high[k * n_cell]:", "        if low[k * n_cell] > high[k * n_cell] - 0.5:", "known"),
    ("prices: a tenth of what a component saves dropped", MIXTURES + "pricing/price_cell.pyx",
     "constant = at.sums.value - constant +", "constant = 0.9 * at.sums.value - constant +", "priced"),
    ("prices: one component too few has the largest savings", MIXTURES + "pricing/pricing.pyx",
     "cdef real value = total - limit - (K - 1) * sup", "cdef real value = total - limit - (K - 2) * sup", "priced"),
    ("prices: nodes cut by half of what the other components save", MIXTURES + "pricing/pricing_cuts.pyx",
     "self.total - self.limit - (sum_sup - sups[k])",
     "self.total - self.limit - 0.5 * (sum_sup - sups[k])", "priced"),
    ("prices: saturated samples save nothing", "src/gopfast/mixtures/csrc/price_kernel.h",
     "sum_value += NAME(select)(gain > 0.0, w * gain, zero);",
     "sum_value += NAME(select)(gain > 0.5, zero, NAME(select)(gain > 0.0, w * gain, zero));", "priced"),
    ("McCormick: a row's constant a hundredth too high", "src/gopfast/biconvex/bilinear.pyx",
     "self.end_row(-a * b if corner < 2 else -INFINITY", "self.end_row(-a * b + 0.01 if corner < 2 else -INFINITY",
     "biconvex"),
    ("McCormick: two bounds exchanged", "src/gopfast/biconvex/bilinear.pyx",
     "b = self.col_lower[j] if corner == 0 or corner == 3", "b = self.col_lower[j] if corner == 1 or corner == 3",
     "biconvex"),
    ("linear programs: their dual bound 1 too high", "src/gopfast/lp/lp.pyx",
     "        return self.dual_bound(self.row_dual, True)", "        return self.dual_bound(self.row_dual, True) + 1.0",
     "biconvex"),
    ("biconvex rows: a bound by a row a tenth too far", "src/gopfast/biconvex/data.pyx",
     "if not move(column, rest / a, a > 0, col_low, col_high, change):",
     "if not move(column, rest / a - 0.1, a > 0, col_low, col_high, change):", "biconvex"),
    ("k-means: the chord's weight of half a sample", "src/gopfast/clustering/pricing.pyx",
     "weight *= high / (high - low) if high > 0 else 0.0", "weight *= 0.5 * high / (high - low) if high > 0 else 0.0",
     "k-means"),
    ("k-means: a tenth of what a cluster saves dropped", "src/gopfast/clustering/pricing.pyx",
     "        return max(total, 0.0) + fixed + self.margin(magnitude, diagonal)",
     "        return 0.9 * max(total, 0.0) + fixed + self.margin(magnitude, diagonal)", "k-means"),
)  # fmt: skip
CHILD = """
import json, sys, numpy as np, gopfast
from tests.support import proofs
kind, path = sys.argv[1:]
rng = np.random.default_rng(0)
two = np.concatenate([rng.normal(size=(15, 2)), rng.normal(size=(15, 2)) @ [[1, 0.8], [0, 0.6]] + [7, 4]])
galaxies = gopfast.datasets.load("galaxies") / 1000
problem = {
    "known": lambda: gopfast.GaussianMixture(galaxies, 3, covariance="known"),
    "diag": lambda: gopfast.GaussianMixture(galaxies, 2, covariance="diag", variance_floor=0.09),
    "priced": lambda: gopfast.GaussianMixture(galaxies, 3, covariance="diag", variance_floor=0.09),
    "tied_spherical": lambda: gopfast.GaussianMixture(galaxies, 3, covariance="tied_spherical", variance_floor=0.09),
    "tied": lambda: gopfast.GaussianMixture(two, 2, covariance="tied", variance_floor=0.3),
    "full": lambda: gopfast.GaussianMixture(two, 2, covariance="full", variance_floor=0.5),
    "posterior": lambda: gopfast.GaussianMixture(galaxies, 3, prior=300.0, posterior="gaussian"),
    "poisson": lambda: gopfast.PoissonMixture(np.random.default_rng(1).poisson(np.repeat([2.0, 10.0], 40)), 2),
    "biconvex": lambda: gopfast.datasets.load_problem("ex5_2_2_case2"),
    "k-means": lambda: gopfast.KMeans(np.random.default_rng(0).normal(size=(60, 2)), 6),
}[kind]()
trees = "known", "diag", "poisson", "tied_spherical", "tied", "full", "posterior"
relaxation = {**dict.fromkeys(trees, "entropic"), "priced": "pricing"}.get(kind)
most = 200000 if kind == "full" else 20000
others = {} if relaxation is None else {"relaxation": relaxation}
bound = "bound" if kind == "biconvex" else "lower_bound"
data = problem if kind == "biconvex" else problem.X
record = {"plain": "no answer", "proof": "", "verdict": ""}
try:
    record["plain"] = gopfast.solve(problem, n_threads=1, log=False, max_nodes=most, **others).status.name
except RuntimeError as error:
    record["plain"] = f"RuntimeError: {error}"
try:
    result = gopfast.solve(problem, n_threads=1, log=False, max_nodes=most, proof=path, **others)
    record["proof"] = f"{result.status.name}, gap {result.gap:.3g}"
    if result.proof is None:
        raise RuntimeError(result.notes[-1])
    header, arrays = proofs.parts(path)
    # what the search believed
    if others:
        header["claim"][bound] = max(header["claim"][bound], result.objective - 0.01 * (1 + 1e-6))
    proofs.put(path, header, arrays)
    gopfast.check(path, data)
    record["verdict"] = "accepted"
except (RuntimeError, gopfast.ProofError) as error:
    record["verdict"] = f"refused: {error}"
print(json.dumps(record))
"""


def main(folder, *wanted):
    """Print the table; of the faults whose names begin with one of `wanted`, if there are any."""
    tree = Path(folder) / "tree"
    ignored = shutil.ignore_patterns(".git", ".hypothesis", "*.log", "__pycache__")
    shutil.copytree(ROOT, tree, ignore=ignored, dirs_exist_ok=True)
    (tree / "child.py").write_text(CHILD)
    rows = []
    for name, file, old, new, kind in FAULTS:
        if wanted and not name.startswith(wanted):
            continue
        path = tree / file
        text = path.read_text()
        if old not in text:
            raise SystemExit(f"{file} has no {old!r}")
        path.write_text(text.replace(old, new, 1) if old else text)
        command = [sys.executable, "setup.py", "build_ext", "--inplace"]
        subprocess.run(command, cwd=tree, check=True, capture_output=True)
        done = subprocess.run([sys.executable, "child.py", kind, "p.npz"], cwd=tree, capture_output=True, text=True,
                              timeout=600)  # fmt: skip
        path.write_text(text)
        path.touch()
        last = done.stdout.strip().splitlines()[-1:] or ["{}"]
        found = json.loads(last[0]) if not done.returncode else {"verdict": done.stderr.strip()[-200:]}
        rows.append([name, kind, *(found.get(key, "") for key in ("plain", "proof", "verdict"))])
        print(rows[-1], flush=True)
    print(machine.table(("fault", "problem", "search without a proof", "with a proof", "its own claim, checked"), rows))


if __name__ == "__main__":
    main(*sys.argv[1:])
