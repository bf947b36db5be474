"""The LP worker: HiGHS agrees with SciPy, and every bound or proof is checked in exact arithmetic."""

import itertools
import os
import subprocess
import sys
import threading
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path

import highspy
import numpy as np
import pytest
from gopfast.lp.lp import Lp, solve_lp
from gopfast.search.stop import StopSignal
from scipy.optimize import linprog

INF = np.inf


def csr(matrix):
    """Row starts, column indices and values of a matrix, zeros left out."""
    rows = [np.flatnonzero(row) for row in matrix]
    start = np.cumsum([0] + [len(row) for row in rows])[:-1]
    return start, np.concatenate([*rows, []]).astype(int), matrix[matrix != 0.0]


def arguments(model):
    """A dense model (cost, A, row_lower, row_upper, col_lower, col_upper) as the arguments of Lp."""
    cost, matrix, *bounds = model
    return cost, *csr(matrix), *bounds


def make_lp(rng, n_rows, n_cols, integer=False, boxed=True):
    """A random model; integer data give degenerate vertices, and unboxed columns unbounded LPs."""
    draw = (lambda *shape: rng.integers(-3, 4, shape).astype(float)) if integer else (
        lambda *shape: rng.standard_normal(shape))
    row_lower, row_upper = np.sort(draw(2, n_rows), axis=0)
    one_sided = rng.random(n_rows)
    row_lower[one_sided < 0.3] = -INF
    row_upper[one_sided > 0.7] = INF
    equal = rng.random(n_rows) < 0.15
    row_lower[equal] = row_upper[equal] = draw(n_rows)[equal]
    col_lower = draw(n_cols)
    col_upper = col_lower + np.abs(draw(n_cols))
    if not boxed:
        col_lower[rng.random(n_cols) < 0.3] = -INF
        col_upper[rng.random(n_cols) < 0.6] = INF
    matrix = draw(n_rows, n_cols)
    # HiGHS gives no dual ray for an empty matrix.
    matrix[0, 0] = matrix[0, 0] or 1.0
    return draw(n_cols), matrix, row_lower, row_upper, col_lower, col_upper


def scipy_solve(model):
    """SciPy's status and optimum."""
    cost, matrix, row_lower, row_upper, col_lower, col_upper = model
    both, bounds = np.vstack([matrix, -matrix]), np.concatenate([row_upper, -row_lower])
    finite = np.isfinite(bounds)
    answer = linprog(cost, both[finite], bounds[finite], bounds=np.column_stack([col_lower, col_upper]),
                     options={"presolve": False})
    return {0: "optimal", 2: "infeasible", 3: "unbounded"}[answer.status], answer.fun


def exact(values):
    """The rational numbers that floating-point numbers are."""
    return [Fraction(float(value)) if np.isfinite(value) else float(value) for value in values]


def solve_exactly(matrix, right):
    """Gauss-Jordan elimination in rationals; None for a singular matrix."""
    n = len(right)
    rows = [list(row) + [b] for row, b in zip(matrix, right, strict=True)]
    for j in range(n):
        pivot = next((i for i in range(j, n) if rows[i][j] != 0), None)
        if pivot is None:
            return None
        rows[j], rows[pivot] = rows[pivot], rows[j]
        rows[j] = [value / rows[j][j] for value in rows[j]]
        for i in range(n):
            if i != j:
                rows[i] = [a - rows[i][j] * b for a, b in zip(rows[i], rows[j], strict=True)]
    return [row[-1] for row in rows]


def exact_optimum(model):
    """Least cost over all vertices of a boxed model, in rationals; None where it is infeasible."""
    cost, matrix, row_lower, row_upper, col_lower, col_upper = model
    n = len(cost)
    rows = [exact(row) for row in np.vstack([matrix, np.eye(n)])]
    lower = exact(np.concatenate([row_lower, col_lower]))
    upper = exact(np.concatenate([row_upper, col_upper]))
    faces = [(row, side) for row, *sides in zip(rows, lower, upper, strict=True)
             for side in set(sides) if isinstance(side, Fraction)]
    best = None
    for chosen in itertools.combinations(faces, n):
        x = solve_exactly([row for row, _ in chosen], [side for _, side in chosen])
        if x is None:
            continue
        values = [sum(a * b for a, b in zip(row, x, strict=True)) for row in rows]
        if all(low <= value <= high for low, value, high in zip(lower, values, upper, strict=True)):
            objective = sum(a * b for a, b in zip(exact(cost), x, strict=True))
            best = objective if best is None else min(best, objective)
    return best


def exact_dual_bound(model, y):
    """The bound of the row duals y in rationals; a dual on an infinite side counts as 0."""
    cost, matrix, row_lower, row_upper, col_lower, col_upper = model
    reduced, total = exact(cost), Fraction(0)
    for row, low, high, dual in zip(matrix, row_lower, row_upper, exact(y), strict=True):
        side = low if dual > 0 else high
        if not np.isfinite(side):
            continue
        total += dual * Fraction(side)
        reduced = [d - dual * a for d, a in zip(reduced, exact(row), strict=True)]
    return total + sum(min(d * low, d * high) for d, low, high in zip(
        reduced, exact(col_lower), exact(col_upper), strict=True))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("integer", [False, True], ids=["real", "degenerate"])
@pytest.mark.parametrize("boxed", [False, True], ids=["unboxed", "boxed"])
def test_status_and_optimum_agree_with_scipy(seed, integer, boxed):
    rng = np.random.default_rng(seed)
    met = set()
    for _ in range(40):
        model = make_lp(rng, rng.integers(1, 8), rng.integers(1, 8), integer, boxed)
        status, optimum = scipy_solve(model)
        ours, x, _, bound = solve_lp(*arguments(model))
        met.add(status)
        if status == "optimal":
            assert ours == "optimal"
            assert model[0] @ x == pytest.approx(optimum, abs=1e-7)
            assert bound <= optimum + 1e-7
        elif status == "infeasible" and not boxed:
            # A column without bounds can leave the sign of a reduced cost unproved.
            assert ours in {"infeasible", "unknown"}
        else:
            assert ours == status
    assert met == ({"optimal", "infeasible"} if boxed else {"optimal", "infeasible", "unbounded"})


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("integer", [False, True], ids=["real", "degenerate"])
def test_safe_bound_is_below_the_exact_optimum_and_close_to_it(seed, integer):
    rng = np.random.default_rng(seed)
    n_optimal = n_infeasible = 0
    for _ in range(30):
        model = make_lp(rng, rng.integers(1, 4), rng.integers(1, 4), integer)
        optimum = exact_optimum(model)
        status, _, _, bound = solve_lp(*arguments(model))
        if optimum is None:
            assert status == "infeasible"
            n_infeasible += 1
        else:
            assert status == "optimal"
            assert Fraction(bound) <= optimum
            assert bound >= float(optimum) - 1e-9 * max(1.0, abs(float(optimum)))
            n_optimal += 1
    assert n_optimal >= 5
    assert n_infeasible >= 5


@pytest.mark.parametrize("seed", range(5))
def test_bound_of_any_duals_is_below_their_exact_bound_and_close_to_it(seed):
    rng = np.random.default_rng(seed)
    for scale in 10.0 ** np.arange(-6, 7, 3):
        model = make_lp(rng, 12, 9)
        y = scale * rng.standard_normal(12)
        with Lp(*arguments(model)) as lp:
            bound = lp.dual_bound(y)
        truth = exact_dual_bound(model, y)
        assert Fraction(bound) <= truth
        assert truth - Fraction(bound) <= 1e-12 * max(scale, 1.0)


@pytest.mark.parametrize("seed", range(5))
def test_no_duals_prove_a_feasible_lp_infeasible(seed):
    # Columns fixed at x and rows at A x, exact in 20-bit data: every Farkas value is 0 before rounding.
    rng = np.random.default_rng(seed)
    n_rows, n_cols = 5, 6
    matrix, x = (rng.integers(-2**20, 2**20, shape) / 2.0**20 for shape in ((n_rows, n_cols), n_cols))
    model = np.zeros(n_cols), matrix, matrix @ x, matrix @ x, x, x
    with Lp(*arguments(model)) as lp:
        for y in rng.standard_normal((200, n_rows)):
            assert exact_dual_bound(model, y) == 0
            assert -1e-12 < lp.dual_bound(y, with_cost=False) <= 0.0


@pytest.mark.parametrize("seed", range(3))
def test_bound_holds_where_rounding_hides_the_sign_of_a_reduced_cost(seed):
    rng = np.random.default_rng(seed)
    hidden = 0
    for _ in range(200):
        matrix, y = rng.standard_normal((6, 1)), rng.standard_normal(6)
        y[5] = -(y[:5] @ matrix[:5, 0]) / matrix[5, 0]
        model = np.zeros(1), matrix, np.zeros(6), np.zeros(6), np.zeros(1), np.array([1e10])
        truth = exact_dual_bound(model, y)
        with Lp(*arguments(model)) as lp:
            assert Fraction(lp.dual_bound(y)) <= truth
            lp.set_col_bounds(0, 0.0, INF)
            if truth < 0:
                assert lp.dual_bound(y) == -INF
                hidden += 1
    assert hidden > 50


def test_bound_underflow_is_counted():
    tiny = 1e-200
    model = np.zeros(1), np.array([[tiny]]), np.zeros(1), np.ones(1), np.array([-1e300]), np.array([1e300])
    with Lp(*arguments(model)) as lp:
        assert Fraction(lp.dual_bound([tiny])) <= exact_dual_bound(model, [tiny]) < 0


def test_bound_is_minus_infinity_where_it_overflows_or_a_dual_is_no_number():
    model = np.zeros(1), np.array([[1e10]]), np.zeros(1), np.ones(1), np.array([-1e300]), np.array([1e300])
    with Lp(*arguments(model)) as lp:
        assert lp.dual_bound([1.0]) == -INF
        assert lp.dual_bound([np.nan]) == 0.0
        assert lp.dual_bound([INF]) == 0.0


def test_bound_is_minus_infinity_where_a_free_column_has_a_reduced_cost():
    col_lower, col_upper = np.array([-INF, 0.0]), np.array([INF, 9.0])
    model = np.ones(2), np.array([[1.0, 3.0]]), np.ones(1), np.ones(1), col_lower, col_upper
    with Lp(*arguments(model)) as lp:
        assert lp.dual_bound([0.5]) == -INF
        assert lp.dual_bound([1.0]) == 1.0 - 2.0 * 9.0


def test_entries_that_highs_drops_count_in_the_bound():
    # x_1 + 1e-10 x_2 >= 1 with x_2 <= 1e10: the optimum is 0, and 1 without the small entry.
    model = np.array([1.0, 0.0]), np.array([[1.0, 1e-10]]), [1.0], [INF], [0.0, 0.0], [5.0, 1e10]
    status, x, _, bound = solve_lp(*arguments(model))
    assert status == "optimal"
    assert x[0] == 1.0
    assert bound <= 0.0


@pytest.mark.parametrize("col_upper", [2.0**33, 2.0**40], ids=["just feasible", "feasible"])
def test_a_feasible_lp_that_highs_calls_infeasible_is_not_called_so(col_upper):
    # x_1 + 2^-34 x_2 >= 1 with x_1 <= 1/2: HiGHS drops the small entry, and with it every feasible point.
    model = np.array([1.0, 0.0]), np.array([[1.0, 2.0**-34]]), [1.0], [INF], [0.0, 0.0], [0.5, col_upper]
    status, *_ = solve_lp(*arguments(model))
    assert status == "unknown"


@pytest.mark.parametrize("change", ["row", "column"])
def test_crossed_bounds_are_infeasible_and_can_be_undone(change):
    rng = np.random.default_rng(0)
    model = np.ones(3), rng.random((2, 3)), -np.ones(2), np.ones(2), -np.ones(3), np.ones(3)
    with Lp(*arguments(model)) as lp:
        set_bounds = lp.set_row_bounds if change == "row" else lp.set_col_bounds
        assert lp.solve() == "optimal"
        before = lp.safe_bound
        set_bounds(0, 0.5, 0.25)
        assert lp.solve() == "infeasible"
        set_bounds(0, -1.0, 1.0)
        assert lp.solve() == "optimal"
        assert lp.safe_bound == pytest.approx(before, abs=1e-9)


def large_lp(seed, n_rows=50, n_cols=60):
    """A feasible boxed model with many pivots."""
    rng = np.random.default_rng(seed)
    matrix = rng.standard_normal((n_rows, n_cols))
    row_upper = matrix @ rng.uniform(-1, 1, n_cols) + 0.1
    cost = rng.standard_normal(n_cols)
    return cost, matrix, np.full(n_rows, -INF), row_upper, -np.ones(n_cols), np.ones(n_cols)


def test_stops_at_the_objective_bound_with_a_valid_bound():
    model = large_lp(0)
    with Lp(*arguments(model)) as lp:
        assert lp.solve() == "optimal"
        optimum, n_iterations = lp.safe_bound, lp.n_iterations
        lp.forget_basis()
        assert lp.solve(1.5 * optimum) == "bound reached"
        assert lp.n_iterations < n_iterations
        assert 1.5 * optimum - 1e-6 <= lp.safe_bound <= optimum + 1e-9
        assert lp.solve() == "optimal"
        assert lp.safe_bound == pytest.approx(optimum, rel=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_warm_start_after_changes_matches_a_cold_solve(seed):
    rng = np.random.default_rng(seed)
    cost, matrix, row_lower, row_upper, col_lower, col_upper = large_lp(seed, 8, 10)
    # Every bound but some of the changed rows' holds at x, so that LPs of both kinds come up.
    x = rng.uniform(-1, 1, 10)
    row_upper = matrix @ x + 0.1
    statuses = []
    with Lp(*arguments((cost, matrix, row_lower, row_upper, col_lower, col_upper))) as lp:
        for step in range(24):
            if step % 4 == 0:
                new = rng.standard_normal((2, 10))
                lower, upper = np.array([-INF, new[1] @ x - 1.0]), new @ x + [0.2, 0.5]
                lp.add_rows(*csr(new), lower, upper)
                matrix = np.vstack([matrix, new])
                row_lower, row_upper = np.append(row_lower, lower), np.append(row_upper, upper)
            elif step % 4 == 1:
                i = rng.integers(len(row_lower))
                row_lower[i], row_upper[i] = matrix[i] @ x - 1.0, matrix[i] @ x + rng.uniform(-1.0, 1.0)
                lp.set_row_bounds(i, row_lower[i], row_upper[i])
            elif step % 4 == 2:
                j = rng.integers(10)
                col_lower[j], col_upper[j] = x[j] - rng.random(), x[j] + rng.random()
                lp.set_col_bounds(j, col_lower[j], col_upper[j])
            else:
                j = rng.integers(10)
                cost[j] = rng.standard_normal()
                lp.set_cost(j, cost[j])
            warm = lp.solve()
            model = cost, matrix, row_lower, row_upper, col_lower, col_upper
            cold, _, _, bound = solve_lp(*arguments(model))
            statuses.append(cold)
            assert warm == cold
            if cold == "optimal":
                assert lp.safe_bound == pytest.approx(bound, abs=1e-9)
                assert cost @ lp.x == pytest.approx(bound, abs=1e-7)
    assert statuses.count("optimal") >= 12


def test_duals_stay_a_bound_for_a_changed_model():
    model = large_lp(1, 6, 8)
    cost, matrix, row_lower, row_upper, col_lower, col_upper = model
    with Lp(*arguments(model)) as lp:
        lp.solve()
        y = lp.row_dual
        lp.add_rows([0], [0], [1.0], [-0.5], [0.5])
        lp.set_cost(2, 0.3)
        cost[2] = 0.3
        matrix = np.vstack([matrix, np.eye(8)[0]])
        row_lower, row_upper = np.append(row_lower, -0.5), np.append(row_upper, 0.5)
        changed = cost, matrix, row_lower, row_upper, col_lower, col_upper
        truth = exact_dual_bound(changed, np.append(y, 0.0))
        assert float(truth) - 1e-12 <= lp.safe_bound
        assert Fraction(lp.safe_bound) <= truth


@pytest.mark.parametrize("place", range(6))
def test_nan_is_refused_on_loading(place):
    model = list(large_lp(2, 3, 4))
    model[place] = model[place].copy()
    model[place].flat[1] = np.nan
    with pytest.raises(ValueError, match="refused"):
        Lp(*arguments(model))


def test_a_refused_load_leaves_nothing_to_solve():
    model = arguments(large_lp(2, 3, 4))
    with Lp(*model) as lp:
        with pytest.raises(ValueError, match="refused"):
            lp.load(np.full(4, np.nan), *model[1:])
        assert lp.solve() == "error"
        lp.load(*model)
        assert lp.solve() == "optimal"


def test_a_refused_change_leaves_the_model_as_it_was():
    with Lp(*arguments(large_lp(3, 3, 4))) as lp:
        assert lp.solve() == "optimal"
        before = lp.safe_bound
        for change in (
            lambda: lp.set_row_bounds(0, np.nan, 1.0),
            lambda: lp.set_row_bounds(3, 0.0, 1.0),
            lambda: lp.set_row_bounds(0, INF, INF),
            lambda: lp.set_col_bounds(0, 0.0, np.nan),
            lambda: lp.set_col_bounds(-1, 0.0, 1.0),
            lambda: lp.set_col_bounds(0, -INF, -INF),
            lambda: lp.set_cost(0, np.nan),
            lambda: lp.set_cost(0, INF),
            lambda: lp.set_cost(4, 1.0),
            lambda: lp.add_rows([0], [0], [np.nan], [0.0], [1.0]),
            lambda: lp.add_rows([0], [4], [1.0], [0.0], [1.0]),
            lambda: lp.add_rows([0], [-1], [1.0], [0.0], [1.0]),
            lambda: lp.add_rows([0], [1, 1], [1.0, 1.0], [0.0], [1.0]),
            lambda: lp.add_rows([0, 3], [0, 1], [1.0, 1.0], [0.0, 0.0], [1.0, 1.0]),
            lambda: lp.add_rows([1], [0, 1], [1.0, 1.0], [0.0], [1.0]),
        ):
            with pytest.raises(ValueError, match="refused"):
                change()
        assert lp.worker.n_rows == 3
        assert lp.safe_bound == before
        assert lp.solve() == "optimal"
        assert lp.safe_bound == pytest.approx(before, rel=1e-12)


def test_lps_without_rows_or_columns_are_solved():
    nothing = []
    assert solve_lp([1.0, -1.0], *[nothing] * 5, [0.0, 0.0], [1.0, 1.0])[3] == -1.0
    assert solve_lp(nothing, [0], nothing, nothing, [0.0], [1.0], nothing, nothing)[0] == "optimal"
    assert solve_lp(*[nothing] * 8)[0] == "optimal"


def test_runs_are_counted():
    with Lp(*arguments(large_lp(4, 3, 4))) as lp:
        for n in range(1, 4):
            lp.solve()
            assert lp.worker.n_lps == n


def results(seeds):
    """Everything that solving a row of LPs returns, as bytes."""
    answers = (solve_lp(*arguments(large_lp(seed, 20, 25))) for seed in seeds)
    return [(status, x.tobytes(), y.tobytes(), bound) for status, x, y, bound in answers]


def test_two_threads_at_once_give_the_results_of_one():
    found = {}
    threads = [threading.Thread(target=lambda k=k: found.update({k: results(range(100))})) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    alone = results(range(100))
    assert found == {0: alone, 1: alone}
    assert {status for status, *_ in alone} == {"optimal"}


def test_a_basis_forgotten_gives_the_bits_of_a_new_worker():
    with Lp(*arguments(large_lp(5))) as lp:
        lp.solve(-10.0)
        lp.forget_basis()
        lp.solve()
        _, x, y, bound = solve_lp(*arguments(large_lp(5)))
        assert (lp.x.tobytes(), lp.row_dual.tobytes(), lp.safe_bound) == (x.tobytes(), y.tobytes(), bound)


def test_works_on_a_thread_that_ran_highs_with_more_threads():
    found = []

    def solve_after_highspy():
        other = highspy.Highs()
        other.setOptionValue("output_flag", False)
        other.setOptionValue("threads", 2)
        other.addVar(0.0, 1.0)
        other.run()
        found.append(solve_lp(*arguments(large_lp(6)))[0])

    thread = threading.Thread(target=solve_after_highspy)
    thread.start()
    thread.join()
    assert found == ["optimal"]


def test_a_signal_whose_time_is_over_stops_the_run_and_none_does_not():
    with Lp(*arguments(large_lp(7))) as lp:
        lp.watch(StopSignal(0.0))
        assert lp.solve() == "interrupted"
        lp.watch(StopSignal())
        assert lp.solve() == "optimal"
        lp.watch(StopSignal(0.0))
        lp.watch(None)
        lp.forget_basis()
        assert lp.solve() == "optimal"


def test_a_signal_is_polled_in_a_long_run():
    with Lp(*arguments(large_lp(8, 900, 1000))) as lp:
        lp.watch(StopSignal(0.1))
        assert lp.solve() == "interrupted"  # on a busy machine before the first iteration


def test_a_closed_worker_refuses_to_solve():
    lp = Lp(*arguments(large_lp(9, 3, 4)))
    lp.close()
    lp.close()
    assert lp.solve() == "error"


def test_highs_is_looked_for_on_first_use_and_its_absence_explained(tmp_path):
    program = (
        "import sys, gopfast.lp.highs, gopfast.lp.lp\n"
        "assert 'highspy' not in sys.modules\n"
        "gopfast.lp.highs.find_spec = lambda name: None\n"
        "try: gopfast.lp.lp.solve_lp(*[[]] * 8)\n"
        "except ImportError as error: print(error)\n"
    )
    # away from the source tree, which would shadow the installed package
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert "neither is installed" in done.stdout
    assert "pip install" in done.stdout


@pytest.mark.parametrize("package, place", [("highspy", ""), ("highsbox", "highs_dist/lib")])
def test_highs_is_taken_from_the_package_that_exports_it(tmp_path, package, place):
    # The wheels of highspy 1.16 have no C API: what has no symbols is passed over, and highsbox is asked.
    library = next(Path(next(iter(find_spec("highspy").submodule_search_locations))).glob("libhighs.so*"), None)
    if library is None:
        pytest.skip("this highspy has no library beside its module")
    for name in ("highspy", "highsbox"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
    (tmp_path / "highspy" / "_core.so").write_bytes(b"no library")
    folder = tmp_path / package / place
    folder.mkdir(parents=True, exist_ok=True)
    (folder / library.name).symlink_to(library)
    program = f"import gopfast.lp.highs, sys; sys.path.insert(0, {str(tmp_path)!r}); gopfast.lp.highs.version()"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True,
                          cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("seed", range(20))
def test_duals_inside_their_signs_bound_programs_on_half_lines(seed):
    rng = np.random.default_rng(seed)
    n, m = 6, 4
    A = np.round(rng.uniform(0.1, 3, (m, n)) * (rng.random((m, n)) < 0.7), 2)
    A[np.arange(m), np.arange(m)] = 1.1
    sides = rng.uniform(0.1, 4, m), np.full(m, np.inf), np.zeros(n), np.full(n, np.inf)
    model = (rng.uniform(0.3, 2, n), *csr(A), *sides)
    with Lp(*model) as lp:
        assert lp.solve() == "optimal"
        before, x = lp.safe_bound, lp.x
        assert lp.solve_inside() == "optimal" and np.array_equal(lp.x, x)
        optimum = model[0] @ x
        assert lp.safe_bound <= optimum + 1e-9
        if before == -np.inf:
            # a basic column's reduced cost is rounding alone, of either sign
            assert lp.safe_bound >= optimum - 1e-6
        again = lp.solve()  # the costs are what they were
        assert again == "optimal" and np.allclose(model[0] @ lp.x, optimum)


def half_lines(rng, n=5):
    """A fractional program below its infimum: (p - u q)'z <= u q0 - p0, G z >= h, in z and products w = t z."""
    p, q, h = rng.integers(-4, 9, n), rng.integers(1, 9, n), rng.integers(1, 20, 3)
    G, q0, p0 = rng.integers(-3, 7, (3, n)), int(rng.integers(1, 9)), int(rng.integers(-5, 6))
    least = linprog([*p, p0], A_ub=np.column_stack([-G, h]), b_ub=np.zeros(3), A_eq=[[*q, q0]], b_eq=[1.0]).fun
    return p, q, p0, q0, G, h, least


def fractional_program(p, q, p0, q0, G, h, low, high):
    """Of t in [low, high] < 0: rows G z >= h, q'w + q0 t = p'z + p0, low z <= w <= high z; columns z, w, t."""
    n, no = len(p), np.zeros((len(p), len(p)))
    eye, end = np.eye(n), np.zeros((n, 1))
    A = np.vstack([np.hstack([G, np.zeros((len(G), n + 1))]), [[*-p, *q, q0]],
                   np.hstack([-low * eye, eye, end]), np.hstack([-high * eye + no, eye, end])])  # fmt: skip
    lower = [*h, p0, *np.zeros(n), *np.full(n, -np.inf)]
    upper = [*np.full(len(h), np.inf), p0, *np.full(n, np.inf), *np.zeros(n)]
    ends = [*np.zeros(n), *np.full(n, -np.inf), low], [*np.full(n, np.inf), *np.zeros(n), high]
    return np.zeros(2 * n + 1), *csr(A), np.array(lower), np.array(upper), np.array(ends[0]), np.array(ends[1])


def test_a_ray_off_by_rounding_proves_programs_on_half_lines_infeasible():
    n_proved, n_moved = 0, 0
    for seed in range(40):
        *parts, least = half_lines(np.random.default_rng(seed))
        if least is None or least > -0.1:
            continue
        with Lp(*fractional_program(*parts, 2 * least - 1 / 7, least * (1 + 1 / 30))) as lp:
            status = lp.solve()
            assert status == "infeasible"
            n_proved += 1
            n_moved += not lp.dual_bound(lp.ray, False) > 0
    assert n_proved >= 10 and n_moved >= 3


def test_no_feasible_program_on_half_lines_is_proved_infeasible():
    n_feasible = 0
    for seed in range(40):
        p, q, p0, q0, G, h, least = half_lines(np.random.default_rng(seed))
        if least is None or least > -0.1:
            continue
        z = linprog(np.ones(len(p)), A_ub=-G, b_ub=-h)
        if z.status != 0:
            continue
        # t of a feasible point with room, in an interval that ends a trifle above
        z = np.ceil(z.x) + 1
        t = (p @ z + p0) / (q @ z + q0)
        if not (G @ z >= h).all() or t > -1e-3:
            continue
        n_feasible += 1
        with Lp(*fractional_program(p, q, p0, q0, G, h, 2 * least - 1, t * (1 - 1e-12))) as lp:
            assert lp.solve() != "infeasible"
            again = lp.solve()  # and the model is what it was
            assert again == "optimal"
    assert n_feasible >= 3


@pytest.mark.parametrize("seed", range(6))
def test_duals_of_a_wider_program_bound_the_own_one(seed):
    rng = np.random.default_rng(seed)
    n_optimal = n_infeasible = 0
    for _ in range(30):
        model = make_lp(rng, rng.integers(1, 4), rng.integers(1, 4), integer=seed % 2 == 1, boxed=seed < 4)
        optimum = exact_optimum(model) if seed < 4 else None
        with Lp(*arguments(model)) as lp:
            own = lp.solve()
            before = lp.safe_bound
            lp.move_ends(True)
            wider = lp.solve()
            bound = lp.safe_bound
            if optimum is not None:
                assert wider == "optimal"
                assert Fraction(bound) <= optimum
                assert bound >= float(optimum) - 1e-9 * max(1.0, abs(float(optimum)))
                n_optimal += 1
            n_infeasible += own == "infeasible"
            lp.move_ends(False)
            again = lp.solve()  # the model is what it was
            assert again == own
            if own == "optimal":
                assert lp.safe_bound == pytest.approx(before, abs=1e-9)
    assert n_infeasible >= 3 and (n_optimal >= 5 or seed >= 4)
