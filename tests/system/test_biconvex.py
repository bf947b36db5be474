"""Published optima, statuses and what a result says, for biconvex problems."""

import itertools
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import gopfast
from gopfast import BiconvexProblem, InputError, Status

INSTANCES = Path(gopfast.datasets.__file__).parent / "biconvex"
PATHS = sorted(INSTANCES.glob("*.json"))
REL_TOL = 1e-6


def optimum(path):
    return json.loads(path.read_text())["optimum"]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_published_optimum_is_proved(path):
    problem = BiconvexProblem.from_json(path)
    result = gopfast.solve(problem, epsilon=1e-6, rel_tol=REL_TOL, n_threads=1, time_limit=60)
    assert result.status is Status.OPTIMAL
    published = optimum(path)
    # published to so many digits, and by solvers that leave constraints violated a little
    assert result.objective == pytest.approx(published, rel=2e-6, abs=2e-6)
    assert result.bound <= published + 1e-9 * abs(published) + 5e-9 or path.stem == "ex9_2_2"
    assert result.gap <= max(1e-6, REL_TOL * abs(result.objective))
    assert result.solution.max_violation <= 1e-6
    assert problem.objective(result.solution.z) == pytest.approx(result.objective, rel=1e-7, abs=1e-8)


def test_there_are_25_instances():
    assert len(PATHS) == 25


@pytest.mark.parametrize("name", ["haverly", "st_bpaf1a", "ex5_4_2"])
def test_every_bounded_node_is_audited_against_the_solution(name):
    from gopfast.biconvex.alternating import AlternatingPrimal
    from gopfast.biconvex.bilinear import BilinearRelaxation
    from gopfast.search.search import Search

    from gopfast.biconvex.lifting import Lifting

    problem = BiconvexProblem.from_json(INSTANCES / f"{name}.json")
    result = gopfast.solve(problem, n_threads=1)
    lifting = Lifting(problem)
    low, high = lifting.low, np.where(np.isfinite(lifting.high), lifting.high, 1e4)
    data, scale, objective_scale = lifting.data(low, high)
    point = lifting.to_core(result.solution.z, scale)
    search = Search(
        BilinearRelaxation(data), AlternatingPrimal(data, [0.5 * sum(data.box)]), 1e-9, max_nodes=300,
        known=(point, result.objective / objective_scale * (1 + 1e-9)),
    )  # fmt: skip
    search.run()
    assert search.n_nodes > 0 and search.n_audit_failures == 0


def bilinear(c, pairs, **arguments):
    """A problem with an objective c'z + sum of z_i z_j."""
    Q = np.zeros((len(c), len(c)))
    for i, j in pairs:
        Q[i, j] = 1.0
    return BiconvexProblem(c, Q=Q, **arguments)


def test_infeasible_is_proved():
    product = np.array([[0.0, 1.0], [0.0, 0.0]])
    crossed = BiconvexProblem([1, 1], lower=[0, 2], upper=[1, 1])
    rows = BiconvexProblem([1, 1], A=[[1, 1], [1, -1]], row_lower=[3, -0.1], row_upper=[3, 0.1], lower=0, upper=[1, 5])
    empty_row = BiconvexProblem([1, 1], A=[[0, 0]], row_lower=1, lower=0, upper=1)
    by_products = BiconvexProblem(
        [0, 0], A=[[1, 1]], row_upper=2, quadratic_rows=[(product, None, 1.001, None)], lower=0, upper=5
    )
    for problem in (crossed, rows, empty_row, by_products):
        result = gopfast.solve(problem, n_threads=1)
        assert result.status is Status.INFEASIBLE and not result.success
        assert result.solution is None and result.objective == result.bound == np.inf and result.gap == 0
    assert gopfast.solve(BiconvexProblem([1], lower=1, upper=0, sense="max")).bound == -np.inf
    # just feasible: z = (1, 1)
    touching = BiconvexProblem(
        [0, 1], A=[[1, 1]], row_upper=2, quadratic_rows=[(product, None, 1.0, None)], lower=0, upper=5
    )
    result = gopfast.solve(touching, n_threads=1)
    assert result.status is not Status.INFEASIBLE


def test_unbounded_is_proved_by_a_ray():
    # the ray: z2 grows, whatever the bilinear part does
    problem = bilinear([0, 0, -1], [(0, 1)], A=[[1, 0, -1]], row_upper=0, lower=[0, 0, 0], upper=[1, 1, np.inf])
    result = gopfast.solve(problem, n_threads=1)
    assert result.status is Status.UNBOUNDED and result.objective == result.bound == -np.inf and result.gap == 0
    assert result.solution.max_violation <= 1e-6
    flipped = bilinear([0, 0, 1], [(0, 1)], lower=[0, 0, 0], upper=[1, 1, np.inf], sense="max")
    assert gopfast.solve(flipped, n_threads=1).objective == np.inf


def test_an_unbounded_variable_that_does_not_pay_is_no_obstacle():
    problem = bilinear([0, 0, 1], [(0, 1)], A=[[1, 0, 1]], row_lower=-3, lower=[-1, -1, -np.inf], upper=[1, 1, np.inf])
    result = gopfast.solve(problem, n_threads=1)
    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx(-5.0, abs=1e-5)


def test_an_unbounded_bilinear_variable_is_bounded_by_the_objective():
    result = gopfast.solve(bilinear([-1, 1], [(0, 1)], lower=[0, 0], upper=[1, np.inf]), n_threads=1)
    assert result.status is Status.OPTIMAL and result.objective == pytest.approx(-1.0, abs=1e-6)


def test_missing_bounds_come_from_the_rows_together():
    # |z0| + |z1| <= 3 by four rows, none of which bounds anything alone
    rows = list(itertools.product([-1.0, 1.0], repeat=2))
    result = gopfast.solve(bilinear([0, 0], [(0, 1)], A=rows, row_upper=3), n_threads=1)
    assert result.status is Status.OPTIMAL and result.objective == pytest.approx(-2.25, abs=1e-5)


def test_a_disc_bounds_its_variables():
    disc = [(np.eye(2), None, None, 2.0)]
    result = gopfast.solve(bilinear([0, 0], [(0, 1)], quadratic_rows=disc), n_threads=1)
    assert result.status is Status.OPTIMAL and result.objective == pytest.approx(-1.0, abs=1e-5)


def test_limits_keep_the_bounds_valid():
    problem = BiconvexProblem.from_json(INSTANCES / "ex3_1_1.json")
    published = optimum(INSTANCES / "ex3_1_1.json")
    few = gopfast.solve(problem, n_threads=1, max_nodes=5)
    short = gopfast.solve(problem, n_threads=1, time_limit=0)
    stopped = gopfast.solve(problem, n_threads=1, callback=lambda state: True)
    assert (few.status, short.status, stopped.status) == (
        Status.NODE_LIMIT, Status.TIME_LIMIT, Status.INTERRUPTED,
    )  # fmt: skip
    for result in (few, short, stopped):
        assert result.bound <= published <= result.objective * (1 + 1e-9)


def test_odd_cycles_and_concave_squares_are_solved_with_copies():
    triangle = bilinear([0, 0, 0], [(0, 1), (1, 2), (0, 2)], lower=-1, upper=2)
    result = gopfast.solve(triangle, n_threads=1)
    assert result.status is Status.OPTIMAL and result.objective == pytest.approx(-3.0, abs=1e-5)
    assert any("copies" in note for note in result.notes) and len(result.solution.z) == 3
    concave = BiconvexProblem([0.5, 0], Q=[[-1, 0.25], [0, 1]], lower=-1, upper=2)
    z0, z1 = np.meshgrid(np.linspace(-1, 2, 1201), np.linspace(-1, 2, 1201))
    reference = (0.5 * z0 - z0**2 + 0.25 * z0 * z1 + z1**2).min()
    result = gopfast.solve(concave, n_threads=1)
    assert result.status is Status.OPTIMAL and result.objective == pytest.approx(reference, abs=1e-4)


def test_a_circle_as_an_equation():
    circle = [(np.eye(2), None, 1.0, 1.0)]
    problem = BiconvexProblem([1, 1], quadratic_rows=circle, lower=-2, upper=2)
    result = gopfast.solve(problem, n_threads=1, rel_tol=1e-4, max_nodes=20_000)
    assert result.status is Status.OPTIMAL and result.objective == pytest.approx(-np.sqrt(2), rel=2e-4)
    assert result.solution.max_violation <= 1e-6


def test_a_start_is_used_and_checked():
    problem = BiconvexProblem.from_json(INSTANCES / "ex5_4_2.json")
    best = gopfast.solve(problem, n_threads=1)
    again = gopfast.solve(problem, n_threads=1, start=best, max_nodes=1)
    assert again.objective == pytest.approx(best.objective, rel=1e-6)
    with pytest.raises(InputError, match="start must have shape"):
        gopfast.solve(problem, start=[1.0])


def test_options_of_mixtures_are_refused():
    problem = bilinear([1, 1], [(0, 1)], lower=0, upper=1)
    with pytest.raises(InputError, match="relaxation='entropic'"):
        gopfast.solve(problem, relaxation="entropic")


def test_results_print_pickle_and_convert():
    problem = bilinear([1, 1], [(0, 1)], lower=-1, upper=1, sense="max", names=["a", "b"])
    result = gopfast.solve(problem, n_threads=1)
    assert result.objective == pytest.approx(3.0) and result.upper_bound == result.bound >= 3.0 - 1e-9
    assert result.lower_bound == result.objective and result.solution["a"] == pytest.approx(1.0)
    text = str(result)
    assert "OPTIMAL" in text and "upper bound" in text and "violation" in text
    record = json.loads(result.to_json())
    assert record["solution"]["values"] == result.solution.values and record["upper_bound"] == result.bound
    assert str(pickle.loads(pickle.dumps(result))) == text


def test_the_log_is_in_the_users_sense(capsys):
    problem = bilinear([1, 1], [(0, 1)], lower=-1, upper=1, sense="max")
    gopfast.solve(problem, n_threads=1, log=True)
    assert "<= global optimum <= 3" in capsys.readouterr().out


def test_a_root_that_is_exact_takes_one_program():
    problem = BiconvexProblem.from_json(INSTANCES / "st_bpk1.json")
    states = []
    result = gopfast.solve(problem, n_threads=1, callback=states.append)
    assert result.status is Status.OPTIMAL and result.objective == pytest.approx(-13.0, rel=1e-9)
    assert result.n_lps == result.n_nodes == 1 and result.gap <= 1e-6 * 13.0
    # violations are those of rounding, as of points that were settled
    assert result.solution.max_violation <= 1e-14
    assert [(state.n_nodes, state.n_open, state.new_incumbent) for state in states] == [(1, 0, True)]
    assert states[0].lower <= -13.0 + 1e-9 and result.history.shape == (1, 5)
    # a start is looked at nevertheless: it may be better within the tolerance
    assert gopfast.solve(problem, n_threads=1, start=result.solution.z).n_lps > 1


def test_what_is_proved_before_the_search_holds_against_scattered_points():
    """Random problems with exact roots: no feasible point is below the bound of the one program."""
    rng = np.random.default_rng(5)
    n_short = 0
    for _ in range(150):
        n = int(rng.integers(2, 5))
        pairs = [(i, j) for i, j in itertools.combinations(range(n), 2) if rng.random() < 0.6] or [(0, 1)]
        Q = np.zeros((n, n))
        for i, j in pairs:
            Q[i, j] = rng.integers(-5, 6)
        A, room = rng.integers(-3, 6, (2, n)), rng.integers(1, 9, 2)
        problem = BiconvexProblem(rng.integers(-5, 6, n), Q=Q, A=A, row_upper=room, lower=0, upper=2)
        result = gopfast.solve(problem, n_threads=1)
        n_short += result.n_lps == 1
        points = 2.0 * rng.random((4000, n))
        points[:2000] = np.round(points[:2000])
        points = points[(points @ A.T <= room).all(axis=1)]
        values = points @ problem.c + np.einsum("si,ij,sj->s", points, Q, points)
        assert result.status is Status.OPTIMAL
        assert values.min() >= result.bound - 1e-12
    assert n_short > 20
