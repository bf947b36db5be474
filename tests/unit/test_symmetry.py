"""Symmetries: what is found is one, every point has an image that meets the rows, and results stay what they are."""

from fractions import Fraction

import numpy as np
import pytest
from gopfast.search.stop import StopSignal

import gopfast
from gopfast import BiconvexProblem
from gopfast.biconvex import fingerprints
from gopfast.biconvex.interruption import Stopped
from gopfast.biconvex.plan import BiconvexPlan
from gopfast.biconvex.symmetry import Centred, Symmetry, orbit
from gopfast.options import Options
from gopfast.profile import Activity


def points(n, reach=1.0, low=0.0):
    """The least squared distance between n points of a square, maximised: (x, y) of each, and last the distance."""
    total, rows = 2 * n + 1, []
    for i in range(n):
        for j in range(i):
            Q, a = np.zeros((total, total)), np.zeros(total)
            for k in (0, n):
                v = np.zeros(total)
                v[[i + k, j + k]] = 1.0, -1.0
                Q -= np.outer(v, v)
            a[-1] = 1.0
            rows.append((Q, a, None, 0.0))
    upper = np.full(total, low + reach)
    upper[-1] = 2.0 * reach**2
    lower = np.append(np.full(total - 1, low), 0.0)
    return BiconvexProblem(np.append(np.zeros(total - 1), 1.0), quadratic_rows=rows, lower=lower, upper=upper,
                           sense="max")  # fmt: skip


def copies(seed):
    """A random problem two or three times, some of the copies reflected, and a row that all are in."""
    rng = np.random.default_rng(seed)
    n, n_copies = int(rng.integers(1, 3)), int(rng.integers(2, 4))
    whole = n * n_copies
    low = rng.integers(-3, 2, n).astype(float)
    high = low + rng.integers(1, 5, n)
    signs = rng.choice([-1.0, 1.0, 1.0], n_copies)
    P, c = np.triu(rng.integers(-3, 4, (n, n))).astype(float), rng.integers(-3, 4, n).astype(float)
    R, a = np.triu(rng.integers(-3, 4, (n, n))).astype(float), rng.integers(-3, 4, n).astype(float)
    Q, line, rows = np.zeros((whole, whole)), np.zeros(whole), []
    for k in range(n_copies):
        own = slice(k * n, (k + 1) * n)
        Q[own, own], line[own] = P, signs[k] * c
        row, b = np.zeros((whole, whole)), np.zeros(whole)
        row[own, own], b[own] = R, signs[k] * a
        rows.append((row, b, float(rng.integers(-12, 0)) if k == 0 else rows[0][2], None))
    together = np.zeros(whole)
    together[::n] = signs
    lower, upper = np.tile(low, n_copies), np.tile(high, n_copies)
    flipped = np.repeat(signs, n) < 0
    lower, upper = np.where(flipped, -upper, lower), np.where(flipped, -lower, upper)
    return BiconvexProblem(line, Q=Q, A=[together], row_upper=[float(np.abs(together).sum())], quadratic_rows=rows,
                           lower=lower, upper=upper, sense=str(rng.choice(["min", "max"])))  # fmt: skip


PROBLEMS = [*(pytest.param(copies(seed), id=f"copies {seed}") for seed in range(25)),
            pytest.param(points(3), id="points"), pytest.param(points(3, 2.0, -1.0), id="points about 0")]  # fmt: skip


def found(problem):
    centred = Centred(problem)
    levels = centred.levels()
    return centred, levels, centred.rows(levels)


def moved(images, z, centred):
    """The point whose literal k has the value that literal images[k] has at z, in rational numbers."""
    rest = [Fraction(x) - m for x, m in zip(z, centred.middles, strict=True)]
    new = [rest[images[2 * i] // 2] * (-1 if images[2 * i] % 2 else 1) for i in range(centred.n)]
    return [m + t for m, t in zip(centred.middles, new, strict=True)]


def evaluate(problem, z):
    """Objective and whether bounds and rows hold, in rational numbers, by other means than the module's."""
    def value(Q, a):
        dense = Q.toarray() if hasattr(Q, "toarray") else np.asarray(Q)
        total = sum(Fraction(float(x)) * y for x, y in zip(a, z, strict=True))
        return total + sum(Fraction(float(dense[i, j])) * z[i] * z[j] for i, j in np.argwhere(dense).tolist())

    ok = all(low <= x <= high for low, x, high in zip(problem.lower, z, problem.upper, strict=True))
    zero = np.zeros((len(z), len(z)))
    for r in range(problem.A.shape[0]):
        ok &= bool(problem.row_lower[r] <= value(zero, problem.A.toarray()[r]) <= problem.row_upper[r])
    for row in problem.quadratic_rows:
        ok &= bool(row.lower <= value(row.Q, row.a) <= row.upper)
    return value(problem.Q, problem.c), ok


def drawn(problem, rng):
    return (problem.lower + (problem.upper - problem.lower) * rng.integers(0, 9, problem.n_variables) / 8).tolist()


@pytest.mark.parametrize("problem", PROBLEMS)
def test_images_are_as_feasible_and_as_good(problem):
    rng = np.random.default_rng(0)
    centred, levels, _ = found(problem)
    assert any(own for _, own in levels)
    for number, (_, own) in enumerate(levels):
        for images in own:
            assert all(images[base] == base for base, _ in levels[:number])
            for _ in range(10):
                z = list(map(Fraction, drawn(problem, rng)))
                assert evaluate(problem, z) == evaluate(problem, moved(images, z, centred))


@pytest.mark.parametrize("problem", PROBLEMS)
def test_every_point_has_an_image_that_meets_all_rows(problem):
    rng = np.random.default_rng(1)
    centred, levels, rows = found(problem)
    generators = [images for _, own in levels for images in own]
    for _ in range(6):
        start = tuple(map(Fraction, drawn(problem, rng)))
        seen, new = {start}, [start]
        met = False
        while new and not met:
            z = new.pop()
            met = all(sum(Fraction(a) * z[i] for i, a in row.items()) >= bound for row, bound in rows)
            for images in generators:
                image = tuple(moved(images, z, centred))
                if image not in seen:
                    seen.add(image)
                    new.append(image)
        assert met


def test_orbits_of_points_in_a_square():
    centred, levels, rows = found(points(4))
    generators = [images for _, own in levels for images in own]
    # a coordinate goes to every other, and to its reflection
    assert len(orbit(levels[0][0], generators)) == 16
    assert len(rows) >= 15 + 1 + 2 + 1
    # the least row of all: the base lies in its upper half
    base = levels[0][0] // 2
    assert any(set(row) == {base} and abs(bound) == 1.0 and abs(row[base]) == 2.0 for row, bound in rows)


def test_nothing_is_found_where_there_is_nothing():
    rng = np.random.default_rng(0)
    Q = np.triu(rng.normal(size=(5, 5)))
    problem = BiconvexProblem(rng.normal(size=5), Q=Q, lower=np.zeros(5), upper=np.ones(5))
    assert found(problem)[2] == []


@pytest.mark.parametrize("problem", PROBLEMS)
def test_literals_that_a_symmetry_exchanges_have_one_fingerprint(problem):
    assert not (fingerprints.all_differ(problem) and any(own for _, own in found(problem)[1]))


@pytest.mark.parametrize("seed", range(20))
def test_fingerprints_are_of_linear_rows_and_products(seed):
    rng = np.random.default_rng(seed)
    n, m = 6, 3
    A, c = rng.integers(-3, 8, (m, n)).astype(float), rng.integers(-9, 10, n).astype(float)
    Q = np.triu(rng.integers(-3, 4, (n, n)), 1).astype(float)
    limits = {"row_upper": A.sum(axis=1), "lower": np.zeros(n), "upper": np.ones(n)}
    assert fingerprints.all_differ(BiconvexProblem(c, Q=Q, A=A, **limits)) or not Q.any()
    # the same once more, with the copy's variables in another order, and one of them reflected
    order, signs = rng.permutation(n), np.append(np.ones(n - 1), -1.0)
    zero = np.zeros((n, n))
    twice = BiconvexProblem(
        np.concatenate([c, (signs * c)[order]]),
        Q=np.block([[Q, zero], [zero, np.triu((np.outer(signs, signs) * (Q + Q.T))[np.ix_(order, order)])]]),
        A=np.block([[A, np.zeros((m, n))], [np.zeros((m, n)), (A * signs)[:, order]]]),
        row_upper=np.tile(limits["row_upper"], 2), lower=np.concatenate([np.zeros(n), np.minimum(signs, 0.0)[order]]),
        upper=np.concatenate([np.ones(n), np.maximum(signs, 0.0)[order]]),
    )  # fmt: skip
    assert any(own for _, own in found(twice)[1])
    assert not fingerprints.all_differ(twice)


def test_what_is_no_symmetry_is_refused():
    centred = Centred(points(2))  # x0, x1, y0, y1, distance
    same = list(range(10))
    exchanged = [2, 3, 0, 1, 6, 7, 4, 5, 8, 9]  # the points
    assert centred.is_symmetry(same) and centred.is_symmetry(exchanged)
    assert centred.is_symmetry([1, 0, 3, 2, *same[4:]])  # x reflected
    for wrong in (
        [2, 3, 0, 1, *same[4:8], 9, 8],  # the distance's sign
        [1, 0, *same[2:]],  # one point alone
        [0, 0, *same[2:]], [1, 1, *same[2:]], [0, 2, 1, 3, *same[4:]],  # no permutation of literals
        [8, 9, *same[2:8], 0, 1],  # other bounds
    ):  # fmt: skip
        assert not centred.is_symmetry(wrong), wrong
    # a coefficient that differs in its last bit
    one = BiconvexProblem([1.0, np.nextafter(1.0, 2.0)], lower=np.zeros(2), upper=np.ones(2))
    assert not Centred(one).is_symmetry([2, 3, 0, 1])


@pytest.mark.parametrize("seed", range(25))
def test_no_feasible_point_is_below_the_bound_and_the_optimum_is_the_same(seed):
    problem, rng = copies(seed), np.random.default_rng(seed)
    sign = 1.0 if problem.sense == "min" else -1.0
    kept = gopfast.solve(problem, log=False, n_threads=1)
    with gopfast.settings(symmetry=False):
        plain = gopfast.solve(problem, log=False, n_threads=1)
    assert plain.profile["symmetry"] == Activity()
    assert kept.status == plain.status
    if not kept.success:
        return
    assert kept.objective == pytest.approx(plain.objective, rel=1e-5, abs=1e-5)
    assert sign * kept.bound <= sign * plain.objective + 1e-9
    for _ in range(300):
        value, feasible = problem.exact(drawn(problem, rng))
        assert not feasible or value >= sign * kept.bound - 1e-12


@pytest.mark.parametrize("corner", range(4))
def test_a_start_in_another_image_counts(corner):
    problem = points(4)
    x, y = np.array([0.0, 0, 1, 1]), np.array([0.0, 1, 0, 1])
    order = np.random.default_rng(corner).permutation(4)
    start = np.concatenate([x[order], y[order], [1.0]])
    kept = gopfast.solve(problem, start=start, log=False, n_threads=1, epsilon=1e-6)
    assert kept.success and kept.objective == pytest.approx(1.0, abs=1e-6)
    assert kept.bound >= 1.0 - 1e-9


def test_a_limit_ends_the_search_for_them():
    problem = points(12)
    plan = BiconvexPlan(problem, Options(log=False))
    with pytest.raises(Stopped):
        Symmetry.make(plan, StopSignal(0.0))
    assert Symmetry.make(plan, StopSignal(60.0)) == Symmetry.make(plan)


def test_it_is_worth_many_nodes_and_goes_on_from_a_checkpoint(tmp_path):
    problem, path = points(4), tmp_path / "search.checkpoint"
    options = {"log": False, "n_threads": 1, "epsilon": 1e-6, "rel_tol": 1e-6}
    kept = gopfast.solve(problem, **options)
    assert kept.success and kept.profile["symmetry"].calls == 1
    with gopfast.settings(symmetry=False):
        plain = gopfast.solve(problem, **options, max_nodes=4 * kept.n_nodes)
    assert not plain.success
    half = gopfast.solve(problem, **options, max_nodes=max(1, kept.n_nodes // 2), checkpoint=path)
    assert not half.success
    again = gopfast.resume(path, problem, log=False, n_threads=1, max_nodes=None)
    assert again.success and again.objective == pytest.approx(1.0, abs=1e-5) and again.bound >= 1.0 - 1e-9
