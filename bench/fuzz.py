"""Random mixtures against the definitions of their models: boxes, searches, searches told to prove too much, proofs.

Deterministic by seed: case i of a family in a run with --seed s is that of seed 1,000,000 s + i. Cases run in a child
process, which is replaced when one crashes or hangs. Prints failures as they come; the exit code is 1 if there was one.

Run: python bench/fuzz.py --seconds 3600 --seed 0 [--kinds boxes,searches,negative,proofs] [--families known,tied]
     python bench/fuzz.py --only boxes:full_2:17      (one case, with its problem)
"""

import argparse
import itertools
import multiprocessing
import resource
import sys
import time
import traceback
import warnings

from fuzzing import boxes, everyday, generator, proving, report, searches

from gopfast.errors import InputError

KINDS = ("boxes", "searches", "negative", "proofs", "everyday")
# Shares of the time; boxes are cheap.
SHARES = {"boxes": 0.4, "searches": 0.2, "negative": 0.15, "proofs": 0.1, "everyday": 0.15}
HANGS = 60.0  # seconds without a result after which a case counts as hanging
MEMORY = 8 * 2**30
# Cases of a family between two looks at the clock.
TURN = {"boxes": 10, "searches": 1, "negative": 2, "proofs": 1, "everyday": 1}
# Of which families there are cases of a kind.
FAMILIES = dict.fromkeys(KINDS, generator.NAMES) | {"everyday": everyday.KINDS}
NAMES = tuple(dict.fromkeys(itertools.chain(*FAMILIES.values())))


def case(kind, family, seed):
    """Run one case; (outcome, detail) as `report.Tally.add` takes them."""
    try:
        if kind == "boxes":
            tried, _ = boxes.run(family, seed)
            return "ok", (tried, None)
        if kind == "proofs":
            return "ok", proving.run(family, seed)[0]
        if kind == "everyday":
            return "ok", everyday.run(family, seed)[0]
        (tried, status), _ = searches.run(kind, family, seed)
        return "ok", (tried, status)
    except InputError as error:
        return "refused", str(error)
    except boxes.Failure as failure:
        return failure.args
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:60]}", traceback.format_exc()[-2000:]


def work(connection):
    """Run the cases that are asked for, in a child process."""
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    while True:
        connection.send(case(*connection.recv()))


class Worker:
    """A child process that runs cases, started anew after a crash."""

    def __init__(self):
        self.process = None

    def start(self):
        """Fork before this process has used a thread."""
        self.connection, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.get_context("fork").Process(target=work, args=(theirs,), daemon=True)
        self.process.start()
        theirs.close()

    def run(self, *which):
        """(outcome, detail) of one case."""
        if self.process is None:
            self.start()
        self.connection.send(which)
        try:
            if self.connection.poll(HANGS):
                return self.connection.recv()
            outcome = "hangs"
        except (EOFError, ConnectionError):
            outcome = "crashes"
        self.process.kill()
        self.process.join()
        code, self.process = self.process.exitcode, None
        return outcome, f"exit code {code}"


def fuzz(kinds, families, seconds, seed):
    """Cases of all kinds and families in turn, each kind for its share of the time; the Tally."""
    tally, worker, began = report.Tally(), Worker(), time.monotonic()
    spent = dict.fromkeys(kinds, 0.0)
    of_kind = {kind: [family for family in families if family in FAMILIES[kind]] for kind in kinds}
    upcoming = {kind: itertools.cycle(found) for kind, found in of_kind.items() if found}
    reached = {(kind, family): 1_000_000 * seed for kind in upcoming for family in of_kind[kind]}
    while time.monotonic() - began < seconds:
        # the kind that has had least of its share
        kind = min(upcoming, key=lambda kind: spent[kind] / SHARES[kind])
        family, started = next(upcoming[kind]), time.monotonic()
        for _ in range(TURN[kind]):
            at = reached[kind, family]
            reached[kind, family] += 1
            outcome, detail = worker.run(kind, family, at)
            tally.add(kind, family, at, outcome, detail)
            if outcome not in ("ok", "refused"):
                print(f"{kind}:{family}:{at} {outcome} {report.shown(detail)[:500]}", flush=True)
        spent[kind] += time.monotonic() - started
    return tally


def show(which):
    """Run one case here, and print its problem and what became of it."""
    kind, family, seed = which.split(":")
    outcome, detail = case(kind, family, int(seed))
    problem = everyday.problem(family, int(seed)) if kind == "everyday" else generator.drawn(kind, family, int(seed))
    print(problem)
    for name in ("X", "y", "sample_weight", "variance_floor", "noise_variance", "prior_variance_bounds", "categories"):
        value = getattr(problem, name, None)
        if value is not None:
            print(f"{name} = {value.tolist() if hasattr(value, 'tolist') else value}")
    print(outcome, report.shown(detail).replace("\\n", "\n"))
    return outcome not in ("ok", "refused")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--families", default=",".join(NAMES))
    parser.add_argument("--output", default=str(report.ROOT / "bench" / "results" / "fuzz.md"))
    parser.add_argument("--only", metavar="KIND:FAMILY:SEED", help="run and show one case")
    arguments = parser.parse_args()
    unknown = {*arguments.kinds.split(",")} - {*KINDS} | {*arguments.families.split(",")} - {*NAMES}
    if unknown:
        parser.error(f"there is no kind or family {', '.join(sorted(unknown))}")
    if arguments.only:
        return show(arguments.only)
    started = time.monotonic()
    tally = fuzz(arguments.kinds.split(","), arguments.families.split(","), arguments.seconds, arguments.seed)
    report.write(arguments.output, tally, time.monotonic() - started, arguments.seed)
    print(tally.table())
    print(tally.status_table())
    print(tally.part_table())
    return any(tally.failures.values())


if __name__ == "__main__":
    sys.exit(main())
