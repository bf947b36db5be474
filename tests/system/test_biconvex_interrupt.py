"""Ctrl-C while a biconvex solve prepares: honoured wherever it comes, with bounds that hold."""

import json
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest
from support.settings import some

import gopfast

SCRIPT = textwrap.dedent(
    """
    import json, sys
    import numpy as np
    import gopfast
    from gopfast import BiconvexProblem
    import gopfast.biconvex.solve  # what is loaded late

    kind, n = sys.argv[1], int(sys.argv[2])
    rng = np.random.default_rng(0)
    Q, A = np.zeros((2 * n, 2 * n)), np.zeros((2 * n, 2 * n))
    Q[:n, n:] = rng.integers(-9, 10, (n, n))
    A[:n, :n], A[n:, n:] = rng.integers(0, 9, (2, n, n))
    rows, lower, upper = [], 0.0, 10.0
    if kind == "local":  # no start ends at a feasible point
        for k in range(n):
            R = np.zeros((2 * n, 2 * n))
            R[:n, n:] = rng.integers(-3, 4, (n, n))
            rows += [(R, rng.integers(-2, 3, 2 * n), 1.0, 1.0), (R, None, 1.1, 1.1)]
    if kind == "polyhedra":  # bounds that only linear programs find
        lower = upper = None
        A = np.vstack([np.eye(2 * n) + rng.random((2 * n, 2 * n)), -np.eye(2 * n) - rng.random((2 * n, 2 * n))])
        Q = np.zeros((2 * n, 2 * n))
        Q[0, n] = 1.0
    problem = BiconvexProblem(
        rng.integers(-9, 10, 2 * n), Q=Q, A=A, row_upper=rng.integers(10, 60, len(A)), quadratic_rows=rows,
        lower=lower, upper=upper,
    )
    print("go", flush=True)
    result = gopfast.solve(problem, n_threads=1)
    print(json.dumps([result.status.name, result.to_dict()["bound"], result.to_dict()["objective"]]))
    """
)


@pytest.mark.parametrize(
    ("kind", "n", "longest"), [("relaxed", 90, 5.0), ("local", 30, 5.0), ("polyhedra", 60, 1.0)]
)
def test_ctrl_c_is_honoured_while_a_search_prepares(kind, n, longest):
    for delay in some(np.random.default_rng(n).uniform(0.1, longest, 3)):
        with subprocess.Popen(
            [sys.executable, "-c", SCRIPT, kind, str(n)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            cwd=Path(gopfast.__file__).resolve().parents[1],
        ) as process:
            assert process.stdout.readline() == "go\n"
            time.sleep(delay)
            process.send_signal(signal.SIGINT)
            try:
                # a search of its own length would take hours
                out, errors = process.communicate(timeout=60)
            finally:
                process.kill()
        assert errors == "" and process.returncode == 0
        status, bound, objective = json.loads(out)
        if kind == "local":  # proved early on fast machines
            assert status in ("INTERRUPTED", "INFEASIBLE")
        else:
            assert status == "INTERRUPTED"
        # the origin is feasible
        assert kind == "local" or bound is None or bound <= 0
        assert objective is None or bound is None or bound <= objective
