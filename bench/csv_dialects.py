"""How gopfast's command and pandas read the CSV files of tests/support/csv_dialects.py.

Run: python bench/csv_dialects.py [files]      (300 by default; writes bench/results/csv_dialects.md)

pandas is compared where it is installed: with the arguments that are right for each file, and with none.
"""

import sys
import tempfile
import warnings
from collections import Counter, defaultdict
from pathlib import Path

import machine
import numpy as np

from gopfast.errors import InputError
from gopfast.reading import table

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from support import csv_dialects

try:
    import pandas
except ImportError:
    pandas = None

RIGHT, REFUSED, WRONG = "as meant", "refused", "differently"


def outcome(data, truth):
    """Compare what was read, None if it was refused, with the truth, None if there is a fault."""
    if data is None:
        return REFUSED
    return RIGHT if truth is not None and np.array_equal(data, truth) else WRONG


def by_gopfast(file, path):
    try:
        return table.read(path, file.columns, **file.options).data
    except InputError:
        return None


def by_pandas(file, path, options):
    """Numbers of the columns asked for, complete rows only; None if pandas raises or has text in them."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            frame = pandas.read_csv(path, float_precision="round_trip", **options)
    except (ValueError, pandas.errors.ParserError):  # a UnicodeError is a ValueError
        return None
    if file.columns is not None:
        frame.columns = [str(name) for name in frame.columns]
        if options and options["header"] is None:
            frame.columns = [str(int(name) + 1) for name in frame.columns]
        if not set(file.columns) <= set(frame.columns):
            return None
        frame = frame[file.columns]
    if frame.select_dtypes("number").shape[1] < frame.shape[1]:
        return None
    data = frame.to_numpy(dtype=float)
    if file.options.get("na") == "drop":
        data = data[~np.isnan(data).any(axis=1)]
    return None if np.isnan(data).any() or np.isinf(data).any() else data


def main(n_files=300):
    counts, total = defaultdict(Counter), defaultdict(Counter)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.csv"
        for seed in range(n_files):
            file = csv_dialects.make(seed)
            path.write_bytes(file.content)
            readers = {"gopfast": by_gopfast(file, path)}
            if pandas is not None:
                readers["pandas, right arguments"] = by_pandas(file, path, file.pandas)
                readers["pandas, no arguments"] = by_pandas(file, path, {})
            for reader, data in readers.items():
                counts[file.dialect][reader, outcome(data, file.data)] += 1
                total[reader][outcome(data, file.data)] += 1
            counts[file.dialect]["files"] += 1
    report = [
        machine.heading("CSV files of many dialects", "pandas"),
        f"{n_files} files of `tests/support/csv_dialects.py`, a seed each; three quarters have no fault. Cells: files "
        "read as meant / refused / read differently, which for a file with a fault or with missing values not to be "
        "dropped is any reading. pandas refuses if it raises, or gives text, NaN or infinity. gopfast is told "
        "separator, decimal mark and header of three files in five, of the others nothing.", "",
        "| dialect | files | " + " | ".join(total) + " |",
        "| --- " * (2 + len(total)) + "|",
    ]  # fmt: skip
    for dialect in sorted(counts):
        row = counts[dialect]
        cells = [cell({kind: row[reader, kind] for kind in (RIGHT, REFUSED, WRONG)}) for reader in total]
        report.append(f"| {dialect} | {row['files']} | {' | '.join(cells)} |")
    report.append(f"| **all** | {n_files} | {' | '.join(cell(total[reader]) for reader in total)} |")
    machine.write("csv_dialects.md", "\n".join(report))
    return total["gopfast"][WRONG]


def cell(kinds):
    return f"{kinds[RIGHT]} / {kinds[REFUSED]} / {kinds[WRONG]}"


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2])) > 0)
