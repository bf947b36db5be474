"""Makes every report of bench/results again, one after the other, on an idle machine.

Run: python bench/reports.py      (about an hour, of which the general solvers take 35)

Needs the extra `bench`. scikit-learn is held to one thread, as gopfast is where a row says so.
"""

import os
import subprocess
import sys
from pathlib import Path

SCRIPTS = (
    "kernel_report.py", "memory.py", "speed_table.py", "real_table.py", "sklearn_misses.py", "scaling.py", "milp.py",
    "side_by_side.py", "certify_table.py",
)  # fmt: skip


def main():
    one_thread = os.environ | {"OMP_NUM_THREADS": "1"}
    for script in SCRIPTS:
        print(f"== {script}", flush=True)
        subprocess.run([sys.executable, str(Path(__file__).with_name(script))], check=True, env=one_thread)


if __name__ == "__main__":
    main()
