"""Everyday data: thousands of samples, several columns, clusters that are more or less apart, and real tables.

Usage: OMP_NUM_THREADS=1 python bench/everyday.py [--seconds 20] [--jobs 2] [--part 1/3] [--rows TEXT ...]
       python bench/everyday.py --compare groups [--unequal] --rows "5000 2 3 8 diag" "60000 3 3 5 known"

About 75 cases (`everyday_cases.py`), each on one thread; 25 minutes with two jobs on two idle processors. What was
found is kept in bench/results/everyday.json, case by case, so that parts can be run again, and the whole of it is
written to bench/results/everyday.md, whose head says what made the whole and which parts were made again; with another
limit, of 60 seconds for instance, to everyday_60.json and everyday_60.md. A case is
*separated* if, of the solution found, at most 1 % of the rows have no responsibility of 0.9 or more.
"""

import argparse
import json
import time
import warnings

import machine
import numpy as np
from everyday_cases import SEED, clusters, design, unequal
from sklearn.mixture import GaussianMixture

import gopfast
from gopfast.parallel import outcomes

CLEAR, MOST_UNCLEAR = 0.9, 0.01  # largest responsibility; part of the rows that may have less
TIGHT = 1e-4  # nats a sample
LONGEST_PEER = 60.0  # seconds that ten starts of scikit-learn may take, as one start foresees it
N_STARTS = 10
SAME = 1e-6  # of an objective, which solutions of the same optimum may differ by
USUAL = 20.0  # seconds of a search
HEADER = [
    "data", "status", "nats open", "per sample", "separated", "seconds", "of the best solution",
    "scikit-learn, 1 start: seconds, nats above", "10 starts: seconds, nats above", "seconds until as good",
]  # fmt: skip
SIZES = ((0, 4_999), (5_000, 49_999), (50_000, 499_999), (500_000, 10**9))
WIDTHS = ((1, 3), (4, 5), (6, 20))


def files(seconds):
    """Return where results of a time limit are kept, and the table of them."""
    name = "everyday" if seconds == USUAL else f"everyday_{seconds:g}"
    return machine.RESULTS / f"{name}.json", machine.RESULTS / f"{name}.md"


def peer(X, K, kind, n_init):
    """Return the seconds and the objective of scikit-learn."""
    begun = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = GaussianMixture(K, covariance_type=kind, n_init=n_init, random_state=0).fit(X)
    return time.perf_counter() - begun, -fit.score(X) * len(X)


def peers(X, case, objective):
    """Return seconds and nats above `objective` of 1 and of 10 starts of scikit-learn, None where it has none."""
    if case.kind == "known":
        return None, None
    found, spent = [], 0.0
    for n_init in (1, N_STARTS):
        if n_init * spent > LONGEST_PEER:
            found.append(None)
            continue
        spent, value = peer(X, case.K, case.kind, n_init)
        found.append((spent, value - objective))
    return found


def measured(task):
    """Return what is kept of a case."""
    case, seconds, seed = task
    X = case.samples(seed)
    begun = time.perf_counter()
    problem = gopfast.GaussianMixture(X, case.K, covariance=case.kind)
    found = gopfast.solve(problem, time_limit=seconds, n_threads=1, log=False)
    took = time.perf_counter() - begun
    told = peers(X, case, found.objective)
    unclear = np.mean(found.solution.responsibilities.max(axis=1) < CLEAR)
    return {
        "name": case.name, "n": case.n, "d": case.d, "K": case.K, "kind": case.kind, "apart": case.apart,
        "limit": seconds, "status": str(found.status), "gap": float(found.gap),
        "separated": bool(unclear <= MOST_UNCLEAR), "seconds": took, "best": reached(found, 0.0), "peers": told,
        "as_good": reached(found, told[1][1]) if told[1] else None,
    }  # fmt: skip


def reached(found, above):
    """Return the seconds until there was a solution no more than `above` nats above the best, to 1e-6 of its size."""
    upper = found.history[:, 3]
    enough = upper <= found.objective + above + SAME * (1.0 + abs(found.objective))
    return float(found.history[np.argmax(enough), 0]) if enough.any() else found.time


def line(row):
    """Return the cells of a row of the table."""
    told = ["not run" if one is None else f"{one[0]:.2f}, {one[1]:+.2g}" for one in row["peers"]]
    return [
        row["name"], row["status"], f"{row['gap']:.3g}", f"{row['gap'] / row['n']:.2g}",
        "yes" if row["separated"] else "no", f"{row['seconds']:.1f}", f"{row['best']:.2f}", *told,
        "" if row.get("as_good") is None else f"{row['as_good']:.2f}",
    ]  # fmt: skip


def is_tight(row):
    """Return whether a case is proved, or as good as that."""
    return row["status"] == "OPTIMAL" or row["gap"] <= TIGHT * row["n"]


def share(rows):
    """Return how many of some rows are tight, and of how many."""
    return f"{sum(map(is_tight, rows))} of {len(rows)}" if rows else "none"


def summary(rows):
    """Return what the rows come to, in words."""
    few = [row for row in rows if row["separated"] and row["d"] <= 5]
    many = [row for row in rows if row["separated"] and 8 <= row["d"] <= 10]
    most = [row for row in rows if row["separated"] and row["d"] > 10]
    raced = [row for row in rows if row["peers"][1] and row.get("as_good") is not None]
    slowest = max((row["as_good"] / row["peers"][1][0] for row in raced), default=0.0)
    late = [row for row in rows if row["peers"][1] and row["peers"][1][1] < -0.01]
    words = [
        f"Proved to {TIGHT:g} nats a sample, of separated cases: {share(few)} in at most 5 columns, {share(many)} in 8 "
        f"to 10, {share(most)} in more. Of cases that are not: {share([row for row in rows if not row['separated']])}.",
        f"scikit-learn's ten starts end more than 0.01 nats lower in {len(late)} of "
        f"{sum(1 for row in rows if row['peers'][1])} cases"
        + "".join(f"; {row['name']}: {-row['peers'][1][1]:.3g}" for row in late)
        + ". (It has no variance floor but `reg_covar`: a lower end may be a component on a few rows.)",
        f"A solution as good as that of the ten starts is there before these end in "
        f"{sum(1 for row in raced if row['as_good'] <= row['peers'][1][0])} of {len(raced)} cases"
        + (f", and after at most {slowest:.1f} times as long." if raced else "."),
        f"Longest over the limit: {max(row['seconds'] - row['limit'] for row in rows):.1f} s.",
    ]
    return "\n\n".join(words)


def in_reach(rows):
    """Return the table of separated cases: tight ones, and the median gap a sample, by rows, columns and components."""
    lines = []
    for low, high in SIZES:
        for components, told in (((2, 4), "2 to 4"), ((5, 16), "5 to 8")):
            cells = [f"{low or 100:,} and more" if high >= 10**9 else f"{low or 100:,} to {high:,}", told]
            for narrow, wide in WIDTHS:
                own = [
                    row for row in rows if row["separated"] and low <= row["n"] <= high and narrow <= row["d"] <= wide
                    and components[0] <= row["K"] <= components[1]
                ]  # fmt: skip
                gaps = [row["gap"] / row["n"] for row in own]
                cells.append(f"{share(own)}, {np.median(gaps):.1g}" if own else "")
            lines.append(cells)
    return machine.table(["rows", "K", *(f"{low} to {high} columns" for low, high in WIDTHS)], lines)


def heading_of_part(part, table):
    """Return the head of the table that is there, and which part of it is made again."""
    head = table.read_text(encoding="utf-8").split("\n\nProof to ")[0]
    return "\n\n".join([head, part.split("\n\n")[1].rstrip("\n").replace("Made by", "A part again by", 1), ""])


def compared(case, seconds, seed, mechanisms, draw):
    """Return a line of what some mechanisms change: statuses, gaps and processor seconds without them and with them."""
    n, d, K, apart, kind = case
    X = draw(n, d, K, apart, kind, seed)
    told = []
    for switched in (False, True):
        begun = time.process_time()
        with gopfast.settings(**dict.fromkeys(mechanisms, switched)):
            found = gopfast.solve(gopfast.GaussianMixture(X, K, covariance=kind), time_limit=seconds, n_threads=1)
        told.append(f"{found.status}, {found.gap:.3g}, {time.process_time() - begun:.2f}")
    return [f"{n:,} x {d}, K={K}, {kind}, {apart:g} apart", *told]


def alike(n, d, K, apart, kind, seed):
    """Return `clusters`, whose variances are unlike where they are said to be known."""
    return clusters(n, d, K, apart, "spherical" if kind == "known" else kind, seed)


def compare(arguments):
    """Print lines of what some mechanisms change."""
    draw = unequal if arguments.unequal else alike
    for text in arguments.rows:
        row = text.split()
        case = (*map(int, row[:3]), float(row[3]), row[4])
        mechanisms = arguments.compare.split(",")
        print(" | ".join(compared(case, arguments.seconds, arguments.seed, mechanisms, draw)), flush=True)


def chosen(arguments):
    """Return the cases that are asked for: a part of them, or those with some text in their names."""
    cases = design()
    if arguments.rows:
        return [case for case in cases if any(text in case.name for text in arguments.rows)]
    part, of = map(int, arguments.part.split("/"))
    return cases[part - 1 :: of]


def main():
    """Run the cases and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=USUAL, help="time limit of each search")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--part", default="1/1", help="which part of the cases, of how many")
    parser.add_argument("--rows", nargs="*", help="only cases whose name has one of these texts; nothing is written")
    parser.add_argument("--compare", metavar="MECHANISMS", help="rows as numbers, without these and with")
    parser.add_argument("--unequal", action="store_true", help="compare with the table's clusters")
    arguments = parser.parse_args()
    if arguments.compare:
        compare(arguments)
        return
    file, table = files(arguments.seconds)
    heading = machine.heading("Everyday data", "scikit-learn")
    if arguments.part != "1/1" and table.exists():
        heading = heading_of_part(heading, table)
    kept = {row["name"]: row for row in json.loads(file.read_text(encoding="utf-8"))} if file.exists() else {}
    tasks = [(case, arguments.seconds, arguments.seed) for case in chosen(arguments)]
    for row in outcomes(measured, tasks, arguments.jobs):
        print(" | ".join(line(row)), flush=True)
        kept[row["name"]] = row
    if arguments.rows:
        return
    rows = [kept[case.name] for case in design() if case.name in kept]
    file.write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n", encoding="utf-8")
    limits = " or ".join(f"{limit:g}" for limit in sorted({row["limit"] for row in rows}))
    note = (
        f"Proof to 0.01 nats wanted, at most {limits} s, one thread, {len(rows)} cases. Simulated clusters have "
        "unequal weights and covariances; their nearest means are so many standard deviations apart, of 1 on average. "
        "*Separated*: of the solution found at most 1 % of the rows have no responsibility of 0.9 or more."
    )
    reach = "In reach: separated cases proved to 1e-4 nats a sample, of how many, and the median gap a sample.\n"
    text = [heading, note + "\n", summary(rows) + "\n", reach, in_reach(rows), machine.table(HEADER, map(line, rows))]
    machine.write(table.name, "\n".join(text))


if __name__ == "__main__":
    main()
