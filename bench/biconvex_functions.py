"""Problems with exponentials, logarithms and powers beside SCIP: published ones and random ones; prints Markdown.

Run: python bench/biconvex_functions.py [--seconds 20] [--number 100] [--seed 0]     (needs pip install '.[bench]')
     python bench/biconvex_functions.py --proofs     writes proofs of the same problems and checks them, without SCIP

One thread each, relative gap 1e-4 of the published ones and 1e-6 of the random ones; the limit is of the clock, times
are processor seconds of the solve, the reading of formulas left out. SCIP is given the formulas as they are written.

Published: phase equilibria of n-butyl acetate and water (NRTL) and of methanol and cyclohexane (modified Wilson), the
Handbook's ex6.1.1, ex6.1.2 and ex6.2.14 (Floudas et al. 1999); hydrazine's combustion (Bracken and McCormick 1968).
Drawn: sums of absolute deviations. Random: `fuzzing/functions`, of up to three variables.
"""

import argparse
import re
import sys
import time
from pathlib import Path

import numpy as np

import gopfast

sys.path.insert(0, str(Path(__file__).resolve().parent))
from fuzz_biconvex import in_child
from fuzzing import functions


def nrtl(a, b):
    return (
        f"{a}*log({a}/({a} + {b})) + {b}*log({b}/({a} + {b})) + 0.925356626778358*{a}*{b}/(0.307941026821595*{a} + {b})"
        f" + 0.746014540096753*{b}*{a}/({a} + 0.159040857374844*{b})"
    )


def wilson(a, b):
    return (
        f"(log({a}/({a} + {b})) + log({a}/({a} + 0.095173*{b})))*{a}"
        f" + (log({b}/({a} + {b})) + log({b}/(0.30384*{a} + {b})))*{b}"
        f" + log({a} + 2.6738*{b})*({a} + 2.6738*{b}) + log(0.374*{a} + {b})*(0.374*{a} + {b})"
        f" + 2.6738*log({b}/({a} + 2.6738*{b}))*{b} + 0.374*log({a}/(0.374*{a} + {b}))*{a}"
        f" - 3.6838*log({a})*{a} - 1.59549*log({b})*{b}"
    )


def published():
    """Name, published optimum, objective, equations and variables."""
    halves, moles = ["a + c == 0.5", "b + d == 0.5"], dict.fromkeys("abcd", (1e-7, 0.5))
    yield "NRTL, two phases (ex6.1.1)", -0.0202, f"{nrtl('a', 'b')} + {nrtl('c', 'd')}", halves, moles
    plane = f"0.06391*a - 0.02875*b + {nrtl('a', 'b')}"
    yield "NRTL, distance from a plane (ex6.1.2)", -0.0325, plane, ["a + b == 1"], dict.fromkeys("ab", (1e-6, 1))
    yield "modified Wilson (ex6.2.14)", -0.6954, f"{wilson('a', 'b')} + {wilson('c', 'd')}", halves, moles
    energies = [
        -6.05576803624071, -17.1307680362407, -34.0207680362407, -5.88076803624071, -24.6877680362407,
        -14.9527680362407, -24.0667680362407, -10.6747680362407, -26.6287680362407, -22.1447680362407,
    ]  # fmt: skip
    text = " + ".join(f"x{i}*({c} + log(x{i}/s))" for i, c in enumerate(energies))
    rows = ["x0 + 2*x1 + 2*x2 + x5 + x9 == 2", "x3 + 2*x4 + x5 + x6 == 1", "x2 + x6 + x7 + 2*x8 + x9 == 1",
            "s == " + " + ".join(f"x{i}" for i in range(10))]  # fmt: skip
    yield "combustion (chem)", -47.7065, text, rows, {f"x{i}": (1e-3, 100) for i in range(10)} | {"s": (0.01, 100)}


def deviations():
    """Least absolute deviations of drawn samples from a line and from an exponential; nothing is published of them."""
    rng = np.random.default_rng(0)
    for n in (10, 30, 100):
        x = np.round(rng.uniform(0, 5, n), 2)
        y = np.round(1 + 2 * x + rng.standard_t(2, n), 2)
        text = " + ".join(f"abs({b} - a - b*{a})" for a, b in zip(x.tolist(), y.tolist(), strict=True))
        yield f"absolute deviations of {n} from a line", "", text, [], dict.fromkeys("ab", (-50, 50))
    for n in (6, 10):
        x = np.round(rng.uniform(0, 5, n), 2)
        y = np.round(2 * np.exp(-0.7 * x) + 0.1 * rng.standard_normal(n), 2)
        text = " + ".join(f"abs({b} - a*exp(-b*{a}))" for a, b in zip(x.tolist(), y.tolist(), strict=True))
        yield f"absolute deviations of {n} from an exponential", "", text, [], {"a": (0, 10), "b": (0, 3)}


def by_scip(objective, equations, variables, seconds):
    """SCIP's objective, dual bound and processor seconds."""
    import pyscipopt

    model = pyscipopt.Model()
    model.hideOutput()
    for name, value in (("limits/time", seconds), ("limits/gap", 1e-4), ("parallel/maxnthreads", 1)):
        model.setParam(name, value)
    names = {name: model.addVar(name, lb=low, ub=high) for name, (low, high) in variables.items()}
    names |= {"log": pyscipopt.log, "exp": pyscipopt.exp}

    def expression(text):
        return eval(re.sub(r"\^", "**", text), {}, names)

    for equation in equations:
        left, right = equation.split("==")
        model.addCons(expression(left) - expression(right) == 0)
    t = model.addVar("t", lb=None)
    model.addCons(expression(objective) <= t)
    model.setObjective(t, "minimize")
    started = time.process_time()
    model.optimize()
    value = model.getObjVal() if model.getNSols() else np.inf
    return value, model.getDualbound(), time.process_time() - started


def proved(problem, options):
    """The result, its proof as checked or the note that says why there is none, and the seconds of both."""
    started = time.process_time()
    result = gopfast.solve(problem, proof=True, **options)
    middle = time.process_time()
    found = result.notes[-1] if result.proof is None else gopfast.check(result.proof, problem)
    return result, found, middle - started, time.process_time() - middle


def write_proofs(arguments, options):
    """A table of the published problems' proofs, and how many of the random ones have one."""
    print("| problem | proved | attained | leaves | kB | s | s of the check |\n" + "| --- " * 7 + "|")
    for name, _, *parts in (*published(), *deviations()):
        result, found, *seconds = proved(gopfast.PolynomialProblem(*parts), options | {"rel_tol": 1e-4})
        row = [found, "", "", ""]
        if result.proof is not None:
            row = [f"{found.bound:.7g}", f"{found.objective:.7g}", f"{found.n_leaves}"]
            row.append(f"{len(result.proof.data) / 1e3:.0f}")
        print(f"| {name} | " + " | ".join([*row, *(f"{s:.2f}" for s in seconds)]) + " |", flush=True)
    n_checked, times = 0, [[], []]
    for seed in range(arguments.seed, arguments.seed + arguments.number):
        result, found, *seconds = proved(functions.draw(np.random.default_rng((seed, 7))).problem(), options)
        if result.proof is None:
            print(f"seed {seed}: {found}")
        n_checked += result.proof is not None
        for own, s in zip(times, seconds, strict=True):
            own.append(s)
    means = [shifted_mean(own) for own in times]
    print(f"\n{arguments.number} random problems: {n_checked} proofs, all checked; shifted means {means[0]:.3f} s with "
          f"the search, {means[1]:.3f} s of the check (shift 0.01)")  # fmt: skip


def is_proved(value, bound, rel_tol):
    return abs(value - bound) <= 1.01 * rel_tol * max(abs(value), 1e-9)


def shifted_mean(seconds):
    return float(np.exp(np.mean(np.log(np.array(seconds) + 0.01))) - 0.01)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seconds", type=float, default=20.0, help="limit of the clock for each")
    parser.add_argument("--number", type=int, default=100, help="of random problems")
    parser.add_argument("--seed", type=int, default=0, help="the first")
    parser.add_argument("--proofs", action="store_true", help="write and check proofs")
    arguments = parser.parse_args()
    options = {"n_threads": 1, "log": False, "time_limit": arguments.seconds}
    gopfast.solve(gopfast.PolynomialProblem("exp(x) - x", ["x^0.4 <= 2"], {"x": (0, 1)}), **options)  # imports
    if arguments.proofs:
        write_proofs(arguments, options)
        return
    print("| problem | published | gopfast | bound | s | SCIP | bound | s |\n" + "| --- " * 8 + "|")
    for name, known, *parts in (*published(), *deviations()):
        problem = gopfast.PolynomialProblem(*parts)
        started = time.process_time()
        result = gopfast.solve(problem, rel_tol=1e-4, **options)
        row = [result.objective, result.bound, time.process_time() - started]
        row += in_child(by_scip, *parts, arguments.seconds) or [np.inf, -np.inf, np.nan]
        print(f"| {name} | {known} | " + " | ".join(f"{x:.5g}" for x in row) + " |", flush=True)
    proved, times = [0, 0], [[], []]
    for seed in range(arguments.seed, arguments.seed + arguments.number):
        instance = functions.draw(np.random.default_rng((seed, 7)))
        problem = instance.problem()
        started = time.process_time()
        result = gopfast.solve(problem, **options)
        times[0].append(time.process_time() - started)
        proved[0] += result.status in (gopfast.Status.OPTIMAL, gopfast.Status.INFEASIBLE)
        value, bound, own = in_child(functions.scip_bounds, instance, arguments.seconds) or [
            np.inf, -np.inf, arguments.seconds]  # fmt: skip
        times[1].append(own)
        proved[1] += is_proved(value, bound, 1e-6) or value == bound == np.inf or bound >= 1e20
    print(f"\n{arguments.number} random problems: gopfast proves {proved[0]}, SCIP {proved[1]}; shifted means "
          f"{shifted_mean(times[0]):.3f} s and {shifted_mean(times[1]):.3f} s (shift 0.01)")  # fmt: skip


if __name__ == "__main__":
    main()
