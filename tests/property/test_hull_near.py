"""Corners of cells, reaches around components, and prices of confined ones: nothing that saves more is left out."""

import math

import numpy as np
import pytest
from gopfast.mixtures.pricing.hull_cells import HullCells, mass_form
from gopfast.mixtures.pricing.hull_shells import Shells
from support.hulls import best_saved, incumbent, priced, problem, saved, shaped

from gopfast.mixtures import engine
from gopfast.mixtures.pricing import hull, hull_corners
from gopfast.mixtures.pricing.hull import HullBound
from gopfast.mixtures.pricing.hull_balls import Ball
from gopfast.mixtures.pricing.hull_corners import Corners
from gopfast.mixtures.pricing.hull_drafts import Drafted
from gopfast.mixtures.pricing.hull_frame import Frame, moments_of
from gopfast.mixtures.pricing.hull_reaches import Reach

SHAPES = ["normal", "heavy", "skewed", "ties", "constant", "dependent", "offset"]


class Case:
    """Clusters in a frame, with prices near those of searches."""

    def __init__(self, rng, shape, n, d, K, free):
        self.rng, self.d, self.free = rng, d, free
        self.columns, means, label = shaped(shape, rng, n, d, K)
        self.weights = rng.choice([0.5, 1.0, 3.0], n)
        self.frame = Frame(self.columns, means)
        self.z, self.means = self.frame.samples, self.frame.means
        self.prices, self.labels = priced(rng, self.z, self.means, self.weights, label)
        self.raised = self.frame.raised(self.prices)
        parts = [self.labels == k for k in range(K)]
        made = [moments_of(self.z[:, own], self.weights[own], self.raised[own], 0.8 if free else 1.0,
                           self.frame.diameter) for own in parts]  # fmt: skip
        self.centers, self.moments = np.array([one[0] for one in made]), np.array([one[1] for one in made])

    def cells(self, some=None):
        """Cells of all samples, or of some (n,)."""
        q, at = self.frame.n_along, self.frame.order(self.labels)
        if some is not None:
            at = at[some[at]]
        place = np.column_stack([self.centers[:, :q], np.linalg.norm(self.centers[:, q:], axis=1)])
        made = HullCells(self.z[:q][:, at], self.z[q:][:, at], self.weights[at], self.labels[at], place,
                         self.d * self.free, has_close_masses=bool(self.rng.integers(2)))  # fmt: skip
        made.set_prices(self.raised[at], self.moments)
        return made

    def box(self, away, sides, wide):
        """A cell about a place so far from a component, with such sides and a range of log s at most so wide."""
        rng, q = self.rng, self.frame.n_along
        middle = self.means[rng.integers(len(self.means))] + rng.choice(away) * rng.standard_normal(self.d)
        low = np.append(middle[:q], np.linalg.norm(middle[q:])) - rng.choice([0.1, 0.5, 2.0]) * rng.random(q + 1)
        high = low + rng.choice(sides) * rng.random(q + 1)
        low[q], high[q] = (0.0, 0.0) if q == self.d else (max(low[q], 0.0), max(high[q], 0.1))
        ends = (-rng.choice([0.1, 1.0]) * wide, 0.0) if self.free else (0.0, 0.0)
        return np.append(low, ends[0]), np.append(high, ends[1])

    def value_at(self, point, s, more=0.0):
        """What the component at a point of the frame, of precision s, saves at prices raised by `more`."""
        mean = self.frame.means_of(point)
        gains = self.prices + more - 0.5 * s * np.square(self.columns - mean[:, None]).sum(axis=0)
        return best_saved(self.weights, gains + 0.5 * self.d * self.free * math.log(s))[0]

    def ascend(self, at, u, more=0.0):
        """What components at coordinates (q + 2,) of a cell save in a direction across, and in better ones."""
        q, s = len(at) - 2, math.exp(at[-1])
        for _ in range(4):
            point = np.append(at[:q], at[q] * u / max(np.linalg.norm(u), 1e-300))
            yield self.value_at(point, s, more)
            away = np.square(self.z - point[:, None]).sum(axis=0)
            gains = self.prices + more - 0.5 * s * away + 0.5 * self.d * self.free * math.log(s)
            u = self.z[q:] @ saved(self.weights, gains)[1]
            if not np.linalg.norm(u) > 0.0:  # nothing across, or nothing is saved
                return


def some_halves(boxes, rng, most):
    """Halves of boxes, divided as the search divides cells; some of them."""
    halves = []
    for a, b in boxes:
        j = int(rng.choice(np.flatnonzero(b > a)))
        left, right = b.copy(), a.copy()
        left[j] = right[j] = 0.5 * (a[j] + b[j])
        halves += [(a, left), (right, b)]
    return [halves[i] for i in rng.permutation(len(halves))[:most]]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("n", "d", "K", "free"), [(300, 5, 3, 0), (300, 5, 3, 1), (400, 9, 4, 1), (150, 3, 5, 0),
                                                  (300, 6, 2, 1), (5, 4, 2, 1)])  # fmt: skip
def test_no_component_of_a_cell_saves_more_than_its_corners_say(shape, n, d, K, free, monkeypatch):
    """Cells that share corners with others, of other sides; every component of the cell, not one at its middle."""
    rng = np.random.default_rng([n, d, K, free, len(shape)])
    for turn in range(5):
        monkeypatch.setattr(hull_corners, "ACROSS", rng.choice([0.75, math.inf]))
        case = Case(rng, shape, n, d, K, free)
        q, order = case.frame.n_along, case.frame.order(case.labels)
        cells = Drafted(case.cells(), None)
        shells = None
        if q < d and turn:
            shells = Shells(case.z[q:][:, order], case.weights[order], case.raised[order], along=case.z[:q][:, order])
        enough = rng.choice([-math.inf, 0.0, 0.3 * case.weights.sum()])
        corners = Corners(cells, d, bool(free), enough, shells)
        boxes = [case.box((0.0, 0.3, 2.0), (0.05, 0.5, 2.0), 0.9)]
        for _ in range(5):
            boxes = some_halves(boxes, rng, 4)
            lows, highs = np.array([a for a, _ in boxes]), np.array([b for _, b in boxes])
            raised = corners.raises(lows, highs)
            found = corners.bound(lows, highs, raised, np.full(len(lows), rng.uniform(-2, 0)))
            for a, b, told in zip(lows, highs, found, strict=True):
                for _ in range(4):
                    share = rng.choice([0.0, 1.0, rng.random()], q + 2)
                    at = a + share * (b - a)
                    value = max(case.ascend(at, rng.standard_normal(d - q)))
                    assert told >= value - 1e-9 * (1.0 + value), (shape, told, value)


@pytest.mark.parametrize("p", [2, 3, 5, 9, 40])
def test_no_mass_is_above_its_form(p):
    """Masses of one sample in all directions, of slopes from tiny to large, with the kink anywhere."""
    rng = np.random.default_rng(p)
    for _ in range(3_000):
        slope = math.exp(rng.uniform(math.log(1e-8), math.log(60.0)))
        middle = rng.choice([rng.uniform(-1.1, 1.1) * slope, rng.uniform(-0.1, 0.1), rng.uniform(-40.0, 5.0),
                             rng.uniform(-31.0, -28.0) - slope])  # fmt: skip
        c = np.concatenate([rng.uniform(-1.0, 1.0, 56), [-1.0, 1.0, 0.0], np.clip([-middle / slope], -1.0, 1.0)])
        mass = np.exp(np.minimum(0.0, middle + slope * c))
        constant, linear, square = mass_form(middle + slope, slope, p)
        rounded = 1e-15 * (constant + linear + square)
        assert (constant + linear * c + square * c * c >= mass * (1 - 1e-12) - rounded).all()
        assert constant + square / p <= min(1.0, math.exp(middle + slope)) * (1 + 1e-12) + 1e-15


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("n", "d", "K", "free"), [(300, 5, 3, 0), (300, 6, 3, 1), (400, 9, 4, 1), (150, 3, 5, 0),
                                                  (5, 4, 2, 1)])  # fmt: skip
def test_no_component_saves_more_where_prices_are_raised_by_its_room(shape, n, d, K, free):
    """At places all over the data and near components, in all directions across, asked for much, little or too much."""
    rng, rooms = np.random.default_rng([n, d, K, free, len(shape)]), 0
    for _ in range(12):
        case = Case(rng, shape, n, d, K, free)
        q, cells = case.frame.n_along, case.cells()
        points = case.means[rng.integers(K, size=6)] + rng.choice([0.0, 0.3, 1.0, 3.0]) * rng.standard_normal((6, d))
        at = np.column_stack([points[:, :q], np.linalg.norm(points[:, q:], axis=1)])
        logs = rng.choice([0.0, -0.7]) * rng.random(6) * free
        values = [max(case.ascend(np.append(*one), rng.standard_normal(d - q))) for one in zip(at, logs, strict=True)]
        enough = rng.choice([0.999, 1.001, 1.3, 4.0, 50.0]) * rng.choice(values)
        if not enough > 0.0:
            continue
        found, _ = cells.rooms(at, logs, rng.uniform(-6.0, 1.0, 6), enough, rng.choice([0.1, 12.0]))
        for place, log, value, room in zip(at, logs, values, found, strict=True):
            assert not (value > enough * (1 + 1e-9) and room >= 0.0)
            if room < 0.0:
                continue
            rooms += 1
            for _ in range(3):
                told = max(case.ascend(np.append(place, log), rng.standard_normal(d - q), room))
                assert told <= enough * (1 + 1e-9) + 1e-9, (shape, told, enough, room)
    assert rooms > 5


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("n", "d", "K", "free"), [(300, 5, 3, 0), (300, 5, 3, 1), (400, 9, 4, 1), (150, 3, 5, 0),
                                                  (300, 6, 2, 1), (5, 4, 2, 1)])  # fmt: skip
@pytest.mark.parametrize("drafted", [False, True])
def test_no_component_of_a_cell_that_is_closed_saves_more_than_enough(shape, n, d, K, free, drafted):
    """Cells halved as the search does, asked for about what components in them save; with and without a draft."""
    rng, n_closed = np.random.default_rng([n, d, K, free, len(shape), drafted]), 0
    for _ in range(8):
        case = Case(rng, shape, n, d, K, free)
        q = case.frame.n_along
        boxes = [case.box((0.0, 0.5, 2.0), (0.2, 1.0, 3.0), rng.choice([0.1, 0.9]))]
        values = [max(case.ascend(a + rng.random(q + 2) * (b - a), rng.standard_normal(d - q))) for a, b in boxes * 9]
        enough = max(rng.choice([1.02, 1.5, 20.0]) * rng.choice(values), 0.01 * case.weights.sum())
        draft = case.cells(rng.random(n) < 0.5) if drafted else None
        corners = Corners(Drafted(case.cells(), draft), d, bool(free), enough)
        for _ in range(8):
            lows, highs = np.array([a for a, _ in boxes]), np.array([b for _, b in boxes])
            closed = corners.close(lows, highs)
            n_closed += closed.sum()
            for a, b in zip(lows[closed], highs[closed], strict=True):
                for _ in range(6):
                    at = a + rng.choice([0.0, 1.0, rng.random()], q + 2) * (b - a)
                    value = max(case.ascend(at, rng.standard_normal(d - q)))
                    assert value <= enough * (1 + 1e-9) + 1e-9, (shape, value, enough)
            boxes = some_halves(boxes, rng, 6)
    assert n_closed > 0 or drafted


@pytest.mark.parametrize(("free", "side", "wide"), [(0, 0.6, 0.0), (1, 0.6, 0.0), (1, 0.0, 0.5), (1, 0.4, 0.4)])
def test_a_cell_around_a_component_is_not_closed_below_what_this_saves(free, side, wide):
    """Of samples that are all in, corners save exactly as much at prices raised by what they need, no less."""
    z = np.random.default_rng(0).standard_normal((4, 300))
    z = np.hstack([z, -z])
    z *= math.sqrt(4 * 600 / np.square(z).sum()) * math.exp(0.25 * free)
    # the precision in the middle of the range, of which both ends need the same
    log_s = -0.5 * free
    s, low = math.exp(log_s), log_s - math.log(math.expm1(max(wide, 1e-12)) / max(wide, 1e-12))
    cells = HullCells(z, np.zeros((0, 600)), np.ones(600), np.ones(600, int), np.zeros((1, 5)), 4 * free)  # no cluster
    prices = 6.0 + 0.5 * s * np.square(z).sum(axis=0) - 2.0 * log_s * free
    cells.set_prices(prices, np.zeros((1, 10)))
    value = best_saved(np.ones(600), np.full(600, 6.0))[0]
    a = np.array([[-side] * 4 + [0.0, low]])
    b = np.array([[side] * 4 + [0.0, low + wide]])
    assert (a[0, -1] == b[0, -1]) == (wide == 0.0)
    for part, closed in ((0.999, False), (1.05, True)):
        assert Corners(Drafted(cells, None), 4, bool(free), part * value).close(a, b)[0] == closed


@pytest.mark.parametrize("free", [False, True])
def test_corners_need_what_a_tangent_is_above_the_concave_term(free):
    """By its definition, with the tangent at any point of a cell, in (s m, s)."""
    rng, d, q = np.random.default_rng(int(free)), 7, 3
    corners = Corners(Drafted(None, None), d, free, 1.0)
    for _ in range(200):
        at = rng.standard_normal((1, 8, q + 2)) * np.append(np.exp(rng.uniform(-3.0, 2.0, q + 1)), 0.5 * free)
        center, log_s = rng.standard_normal((1, q + 1)), 0.5 * free * rng.standard_normal(1)
        m, s = at[0, :, :-1], np.exp(at[0, :, -1])
        # B = (d / 2) log s - |s m|^2 / 2 s; its derivatives by s m and s are -m and d / 2 s + |m|^2 / 2
        own, c = math.exp(log_s[0]), center[0]
        concave = 0.5 * d * free * np.log(s) - 0.5 * s * np.square(m).sum(axis=1)
        tangent = 0.5 * d * free * log_s - 0.5 * own * c @ c - (s[:, None] * m - own * c) @ c
        tangent += (s - own) * (0.5 * d * free / own + 0.5 * c @ c)
        needs = corners._needs(at, center, log_s)[0]
        assert (needs >= tangent - concave - 1e-13 * (1.0 + abs(concave))).all()
        assert needs == pytest.approx(tangent - concave, rel=1e-6, abs=1e-9)


def test_corners_lose_what_is_of_second_order():
    """A quarter, and not half, of what is lost is lost in cells of half the side; ranges of samples lose more."""
    case = Case(np.random.default_rng(0), "normal", 2_000, 4, 5, 0)
    order = case.frame.order(case.labels)
    assert case.frame.n_along == 4
    cells = HullCells(case.z[:, order], case.z[4:][:, order], np.ones(2_000), case.labels[order],
                      np.column_stack([case.centers, np.zeros(5)]))  # fmt: skip
    drafted = Drafted(cells, None)
    nearest = np.square(case.z[:, None] - case.means.T[:, :, None]).sum(axis=0).min(axis=0)
    cells.set_prices(1.5 + 0.5 * nearest[order], case.moments)
    corners, lost = Corners(drafted, 4, False, -math.inf), []
    at = np.append(case.means[0] + 0.4, [0.0, 0.0])
    for side in (0.4, 0.2):
        sides = np.array([side] * 4 + [0.0, 0.0])
        low, high = (at - sides)[None], (at + sides)[None]
        found = corners.bound(low, high, corners.raises(low, high), np.zeros(1))[0]
        # components at the corners save about what is found without raising prices
        least = Corners(drafted, 4, False, -math.inf).bound(low, high, np.zeros((1, 2)), np.zeros(1))[0]
        lost.append(found - least)
    ranges, _ = cells.bound(low[:, :-1], high[:, :-1], np.zeros((1, 2)), np.zeros(1))
    assert 0.0 < found < ranges[0]
    assert 0.0 < lost[1] < 0.35 * lost[0]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("n", "d", "K", "free"), [(300, 4, 2, 0), (300, 5, 3, 1), (400, 9, 4, 1), (200, 6, 3, 0)])
def test_components_within_reach_save_no_more_than_is_asked(shape, n, d, K, free):
    rng = np.random.default_rng([n, d, K, free, len(shape), 3])
    n_closed = 0
    for _ in range(3):
        case = Case(rng, shape, n, d, K, free)
        k = int(rng.integers(K))
        precision = math.exp(rng.uniform(-1.5, -0.1)) if free else 1.0
        most = case.value_at(case.means[k], precision) * rng.uniform(1.0, 1.5) + 1e-3
        cut = most * rng.choice([1.0, 0.98, 0.8])
        ball = Ball(case.z, case.weights, case.raised, case.labels, K, case.means[k], precision, bool(free), most, cut,
                    -0.5)  # fmt: skip
        while ball.grow():
            pass
        inner = ball.confine(cut)
        least = -3.0 * free
        reach = Reach(case.z, case.weights, case.raised, case.labels, case.centers, case.moments, ball,
                      case.frame.diameter, least, case.frame.diameter, cut)  # fmt: skip
        while reach.grow():
            pass
        assert (reach.high >= reach.low).all()
        assert reach.low.min() == least and reach.high.max() == 0.0
        assert math.fsum(reach.high - reach.low) == pytest.approx(-least)
        assert reach.within(np.array([0.1]), np.array([0.2])) == 0.0  # of other precisions nothing is known
        for _ in range(60):
            j = rng.integers(len(reach.radii))
            log_s = rng.uniform(reach.low[j], reach.high[j])
            s = math.exp(log_s)
            u = rng.standard_normal(d)
            away = reach.radii[j] * rng.choice([1.0, rng.random(), 1e-2])
            point = case.means[k] + away * u / np.linalg.norm(u) * (1 - 1e-9)
            value = case.value_at(point, s)
            radius = ball._radius(np.array([away]), np.array([s]), np.array([s]))[0]
            n_closed += reach.radii[j] > 0.0
            allowed = cut if radius > ball.inner * (1 + 1e-9) else max(cut, inner)
            assert value <= allowed * (1 + 1e-9) + 1e-9 or reach.radii[j] == 0.0, (shape, value, allowed)
            told = reach.within(np.array([log_s]), np.array([log_s]))[0]
            assert told <= reach.radii[j] or reach.low[j] == log_s
    assert n_closed or shape in ("heavy", "offset")


@pytest.mark.parametrize("seed", range(10))
def test_no_better_solution_is_left_out_where_components_are_confined(seed, monkeypatch):
    """Incumbents that are not the best, limits above and below the best: no bound is above a solution or the limit."""
    monkeypatch.setattr(hull, "MOST_CELLS", 1_500)
    monkeypatch.setattr(hull, "ROOMY_FROM", 0)
    rng = np.random.default_rng([seed, 11])
    kind = ("known", "spherical")[seed % 2]
    n, d, K = int(rng.integers(400, 1_200)), int(rng.integers(4, 8)), int(rng.integers(2, 4))
    found, label = problem(n, d, K, rng.choice([7.0, 9.0, 14.0]), seed, kind, rng.choice(["normal", "skewed", "ties"]))
    family = engine.family(found)
    best, value = incumbent(family, label, K)
    for moved, more in ((0.0, 0.5), (0.0, 0.02 * n), (0.05, 1e-3 * n), (0.2, 0.02 * n)):
        vector = best.copy()
        vector[K:-1] += moved * rng.standard_normal(len(vector) - K - 1)
        if kind == "spherical":
            cells = vector[K:-1].reshape(K, -1)
            cells[:, -1] = np.maximum(cells[:, -1], 1.0)
        bound = HullBound(family, vector, value + more)
        while bound.step(math.inf):
            pass
        assert bound.lower <= value + 1e-6


@pytest.mark.parametrize(("kind", "more"), [("spherical", 1.0), ("spherical", 5.0)])
def test_confined_components_are_bounded_at_prices_that_lose_less(kind, more):
    """With a limit above the best solution, so that something is left; the bound stays below that."""
    found, label = problem(1_500, 5, 2, 14.0, 3, kind)
    family = engine.family(found)
    vector, value = incumbent(family, label, 2)
    bound, first = HullBound(family, vector, value + more), None
    while bound.step(0.0):
        if bound.phase == "confined" and first is None:
            first = bound.lower
    assert bound.is_confining and bound.phase == "confined"
    assert first <= bound.lower <= value
    lost = bound.limit - first
    assert lost > 0.0 and bound.limit - bound.lower < lost


def test_a_ball_stays_where_it_is_while_components_move():
    """Confined components are asked about within a ball around where the component was."""
    own, label = problem(700, 5, 3, 12.0, 1)
    family = engine.family(own)
    vector, value = incumbent(family, label, 3)
    bound = HullBound(family, vector, value)
    while not bound.balls:
        assert bound.step(-np.inf)
    before = bound.balls[0].mean.copy()
    bound.atoms.means[0] += 1.0
    assert (bound.balls[0].mean == before).all()
