"""Local searches beside Ipopt's, from the same starts; writes bench/results/local_searches.md.

Run: python bench/local_searches.py [--each 5] [--starts 3] [--seconds 10] [--only FAMILY ...] [--no-file]

Needs pip install casadi, whose wheel contains Ipopt. Problems are the first ones (`--each`) of every family of
bench/biconvex_heldin.py.

- *From a start*: gopfast's nonlinear searches (`gopfast.biconvex.nonlinear`) and Ipopt 3.14 by CasADi, with exact
  derivatives and the same scaled program, from the same points, drawn in the box (-10 to 10 where there is no bound). A
  point counts as feasible where all rows hold to 1e-6 of their scale, and is better by 1e-5 relative. Seconds are the
  processor's of the search alone: CasADi's functions are made before.
- *Root*: the best point that `gopfast.solve(..., max_nodes=1)` returns, from no start, with all of its local searches,
  beside Ipopt's best of the starts; how many are better, by 1e-5 relative.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path

import machine
import numpy as np
from biconvex_heldin import FAMILIES
from gopfast.search.stop import StopSignal

import gopfast
from gopfast.biconvex.nonlinear import NonlinearProgram

try:
    import casadi
except ImportError:
    raise SystemExit("bench/local_searches.py needs Ipopt: pip install casadi") from None

FEASIBLE, BETTER, FAR = 1e-6, 1e-5, 10.0
IPOPT = {"ipopt.print_level": 0, "ipopt.sb": "yes", "print_time": 0, "ipopt.max_iter": 3000, "ipopt.tol": 1e-8,
         "ipopt.bound_relax_factor": 0.0, "error_on_fail": False}  # fmt: skip


class Program:
    """A problem as both solve it: scaled by what its variables can be."""

    def __init__(self, problem):
        low, high = np.array(problem.lower), np.array(problem.upper)
        size = np.maximum(np.abs(low), np.abs(high))
        self.scale = np.where(np.isfinite(size) & (size > 0), size, 1.0)
        self.own = NonlinearProgram(problem, low, high, self.scale, StopSignal())
        self.ipopt = _ipopt(self.own)

    def starts(self, rng, number):
        """Points in the box (number, n), in the user's units."""
        low, high = np.clip([self.own.low, self.own.high] * self.scale, -FAR, FAR)
        wide = np.isfinite(self.own.low * self.scale) & np.isfinite(self.own.high * self.scale)
        low, high = np.where(wide, self.own.low * self.scale, low), np.where(wide, self.own.high * self.scale, high)
        return rng.uniform(low, np.maximum(low, high), (number, len(low)))

    def value(self, x):
        """Objective, minimised, of a scaled point; inf where it is none or violates a row."""
        if x is None or not np.isfinite(x).all():
            return np.inf
        values = self.own.values(np.clip(x, self.own.low, self.own.high))
        out = np.maximum(self.own.lower - values[1:], values[1:] - self.own.upper).max(initial=0.0)
        return float(values[0]) if out <= FEASIBLE else np.inf

    def search(self, start):
        """Value and seconds of gopfast's search."""
        begun = time.process_time()
        found = self.own.search(start, near=False)
        seconds = time.process_time() - begun
        return self.value(None if found is None else found / self.scale), seconds

    def search_by_ipopt(self, start):
        """Value and seconds of Ipopt's."""
        begun = time.process_time()
        found = self.ipopt(x0=start / self.scale, lbx=self.own.low, ubx=self.own.high, lbg=self.own.lower,
                           ubg=self.own.upper)  # fmt: skip
        return self.value(np.array(found["x"]).ravel()), time.process_time() - begun


def _ipopt(own):
    """Ipopt for a `NonlinearProgram` without functions."""
    x = casadi.SX.sym("x", own.n)
    rows = [casadi.SX(0) for _ in range(1 + own.n_rows)]
    for number, i, j, value in zip(*(part.tolist() for part in (own.number, own.i, own.j, own.value)), strict=True):
        rows[number] += value * x[i] * x[j]
    linear = own.linear.tocoo()
    for number, j, value in zip(linear.row.tolist(), linear.col.tolist(), linear.data.tolist(), strict=True):
        rows[number] += value * x[j]
    return casadi.nlpsol("s", "ipopt", {"x": x, "f": rows[0], "g": casadi.vertcat(*rows[1:])}, IPOPT)


def better(value, other):
    """Whether a value is better than another one."""
    return value < np.inf and value < other - BETTER * max(1.0, abs(value), abs(other) if other < np.inf else 0.0)


def measure(record, n_starts, seconds):
    """Values and seconds of both from each start, and the root's value and seconds, in the program's units."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "problem.json"
        path.write_text(json.dumps(record))
        problem = gopfast.BiconvexProblem.from_json(path)
    program = Program(problem)
    starts = program.starts(np.random.default_rng(0), n_starts)
    own, ipopt = ([search(start) for start in starts] for search in (program.search, program.search_by_ipopt))
    begun = time.process_time()
    result = gopfast.solve(problem, max_nodes=1, n_threads=1, log=False, time_limit=seconds)
    spent = time.process_time() - begun
    at = None if result.solution is None else result.solution.z / program.scale
    return own, ipopt, program.value(at), spent


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--each", type=int, default=5, help="problems of a family")
    parser.add_argument("--starts", type=int, default=3, help="starts of a problem")
    parser.add_argument("--seconds", type=float, default=10.0, help="limit of a root")
    parser.add_argument("--only", nargs="+", choices=FAMILIES, default=list(FAMILIES), help="these families alone")
    parser.add_argument("--no-file", action="store_true", help="print, but write no file")
    arguments = parser.parse_args()
    lines, total = [], np.zeros(13)
    for family in arguments.only:
        counts = np.zeros(13)
        for record in FAMILIES[family]()[: arguments.each]:
            own, ipopt, root, spent = measure(record, arguments.starts, arguments.seconds)
            best = min(value for value, _ in ipopt)
            counts += [
                1, len(own), sum(v < np.inf for v, _ in own), sum(v < np.inf for v, _ in ipopt),
                sum(better(a[0], b[0]) for a, b in zip(own, ipopt, strict=True)),
                sum(better(b[0], a[0]) for a, b in zip(own, ipopt, strict=True)),
                sum(s for _, s in own), sum(s for _, s in ipopt), better(root, best), better(best, root),
                root < np.inf, best < np.inf, spent,
            ]  # fmt: skip
            if better(best, root):
                print(f"  {record['name']}: root {root:.9g}, Ipopt {best:.9g} (scaled)", flush=True)
        lines.append(told(family, counts))
        print(lines[-1], flush=True)
        total += counts
    lines.append(told("**all**", total))
    print(lines[-1])
    if arguments.no_file or arguments.only != list(FAMILIES):
        return
    head = ("| family | problems | starts | feasible: gopfast | Ipopt | better: gopfast | Ipopt | s each: gopfast"
            " | Ipopt | root better | Ipopt's best better | root has a point | Ipopt has one | root, s |")  # fmt: skip
    about = "\n\n".join(__doc__.split("\n\n")[2:]).strip()
    text = "\n".join([machine.heading("Local searches beside Ipopt"), about, "", head, "| --- " * 14 + "|", *lines, ""])
    (Path(__file__).parent / "results" / "local_searches.md").write_text(text, encoding="utf-8")


def told(family, counts):
    """Return a row of the table."""
    n, starts, *_ = counts
    cells = [f"{c:.0f}" for c in counts[:6]] + [f"{c / starts:.3f}" for c in counts[6:8]]
    cells += [f"{c:.0f}" for c in counts[8:12]] + [f"{counts[12] / n:.2f}"]
    return f"| {family} | " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
