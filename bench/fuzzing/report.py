"""What a run of the fuzzer found: a table of kinds and families, and the seeds of the failures."""

import json
import math
import platform
import subprocess
from collections import defaultdict
from pathlib import Path

import numpy as np

from .everyday import Part

MOST_SEEDS = 12
ROOT = Path(__file__).resolve().parents[2]


class Tally:
    """Counts by (kind, family)."""

    def __init__(self):
        self.cases, self.tried, self.refused = (defaultdict(int) for _ in range(3))
        self.statuses = defaultdict(lambda: defaultdict(int))
        self.failures = defaultdict(list)  # (kind, family): (seed, what, detail)
        self.parts = defaultdict(lambda: defaultdict(int))  # bound, family: searches that it took part in
        self.nearest = defaultdict(lambda: math.inf)  # family: nats a sample between a bound and what is attained

    def add(self, kind, family, seed, outcome, detail):
        """Take one case: outcome "ok" with the number tried and a status, "refused", or what failed."""
        key = kind, family
        self.cases[key] += 1
        if outcome == "ok":
            n, status = detail
            self.tried[key] += n
            if isinstance(status, Part):
                for name in status.names:
                    self.parts[name][family] += 1
                self.nearest[family] = min(self.nearest[family], status.nearest)
            elif status:
                self.statuses[key][status] += 1
        elif outcome == "refused":
            self.refused[key] += 1
        else:
            self.tried[key] += 1
            self.failures[key].append((seed, outcome, detail))

    def table(self):
        """Lines of Markdown."""
        lines = ["| kind | family | cases | refused | tried | failures | seeds |", "|---|---|--:|--:|--:|--:|---|"]
        for key in self.cases:
            by_kind = defaultdict(list)
            for seed, what, _ in self.failures[key]:
                by_kind[what].append(seed)
            seeds = "; ".join(
                f"{what} ({len(found)}): {', '.join(map(str, found[:MOST_SEEDS]))}" for what, found in by_kind.items()
            )
            counts = self.cases[key], self.refused[key], self.tried[key], len(self.failures[key])
            lines.append(f"| {key[0]} | {key[1]} | " + " | ".join(f"{count:,}" for count in counts) + f" | {seeds} |")
        failures = sum(map(len, self.failures.values()))
        counts = *(sum(each.values()) for each in (self.cases, self.refused, self.tried)), failures
        lines.append("| all | | " + " | ".join(f"{count:,}" for count in counts) + " | |")
        return "\n".join(lines)

    def status_table(self):
        """How the solves ended."""
        names = sorted({name for counts in self.statuses.values() for name in counts})
        if not names:
            return ""
        lines = ["| kind | family | " + " | ".join(names) + " |", "|---|---|" + "--:|" * len(names)]
        for (kind, family), counts in self.statuses.items():
            lines.append(f"| {kind} | {family} | " + " | ".join(str(counts[name]) for name in names) + " |")
        return "\n".join(lines)

    def part_table(self):
        """How many searches of everyday data a bound took part in, and the nearest that one came."""
        families = list(self.nearest)
        if not families:
            return ""
        lines = ["| everyday | " + " | ".join(families) + " |", "|---|" + "--:|" * len(families)]
        for name, counts in self.parts.items():
            lines.append(f"| {name} | " + " | ".join(f"{counts[family] or ''}" for family in families) + " |")
        nearest = " | ".join(f"{self.nearest[family]:.1g}" for family in families)
        return "\n".join([*lines, f"| *nearest, nats a sample* | {nearest} |"])


def commit():
    """The commit that was run, for the record; "unknown" outside a checkout."""
    try:
        command = ["git", "rev-parse", "--short", "HEAD"]
        found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return found.stdout.strip()


def write(path, tally, seconds, seed):
    """Write the tables of a run."""
    text = f"""# Fuzzing

`make fuzz`: random problems with ties, lattices, constant and dependent columns, offsets up to 2^40, scales and weights
from 1e-6 to 1e6, priors at and around 1, counts up to 1e14, against the models' definitions in extended precision.
*boxes*: a box around known parameters must be kept, and its bound must not exceed their objective; with it bounds of
whole problems, the box around the incumbent and hitting sets. *searches*: results of `solve` against EM from many
starts and the value at the solution, and solved again from its own solution. *negative*: searches that must prove one
nat more than is true. *proofs*: files against the checker, as they are and changed. *everyday*: searches of thousands
of samples that must prove 0.001 to 0.1 nats a sample more than is true, of 4 s, some without a few of their mechanisms;
the last table says which took part. Tried: boxes and bounds, solves, nodes, and checks. A failure is repeated by
`python bench/fuzz.py --only kind:family:seed`.

Commit {commit()}, seed {seed}, {seconds:.0f} s, one process, {platform.machine()}, NumPy {np.__version__}.

{tally.table()}

{tally.status_table()}

{tally.part_table()}
"""
    Path(path).write_text(text)


def shown(detail):
    """A failure's detail on one line."""
    return json.dumps(detail, default=plain) if isinstance(detail, dict) else str(detail)


def plain(value):
    """NumPy's numbers and arrays for JSON, extended precision as text."""
    if isinstance(value, np.ndarray):
        return value.astype(float).tolist()
    return str(value) if isinstance(value, np.longdouble) else value.item()
