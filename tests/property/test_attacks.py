"""The fuzzer of bench/fuzz.py in short: no family may lose a known solution, bound it from above, or prove too much.

Problems have ties, lattices, constant and dependent columns, offsets, other units, weights and counts of all sizes and
priors at 1; references are the models' definitions in extended precision. `make fuzz` runs millions of these.
"""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from fuzzing import boxes, classes, clusters, count_fits, definitions, everyday, failure, generator, searches
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.search.probe import root_box
from support import problems
from support.settings import EVERY

import gopfast
from gopfast.errors import InputError
from gopfast.mixtures import engine
from gopfast.mixtures.pricing import pricing_root

N_BOX_CASES, N_NEGATIVE_CASES, N_EVERYDAY_CASES = (25, 5, 6) if EVERY == 1 else (5, 1, 1)
MOST_REFUSED = 20  # problems beyond these
# A search's nodes; full matrices take long over one.
NODES = 150
# What long runs found: kind, family, seed.
FOUND = [
    ("searches", "full_2", 9700000034),  # OPTIMAL, then NUMERICAL from its own solution: rounded matrices
    ("negative", "regression_known", 9),  # places of a column far from 0 were no places
    ("searches", "regression", 40),  # rounded coefficients: OPTIMAL, then NUMERICAL from its own solution
    ("searches", "regression_known", 61),  # two samples of weight, fitted exactly: a margin was 0 / 0
    ("searches", "full_1", 9700000121),  # one component far from 0: its objective stood above that of its solution
]
# The same of boxes: family, seed.
FOUND_IN_BOXES = [
    ("count_regression_groups", 77000043),  # two coefficients of one sample were put in an order by any of the best
    ("count_regression_groups", 83000107),  # directions that such a sample leaves free, not to the last digit
    ("proportion_regression", 88000093),  # the same where what the others say has little curvature
]


def attack(run, name, seed):
    """A case of the fuzzer; what it found is the test's failure."""
    try:
        return run(name, seed)
    except InputError:
        return None


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", generator.NAMES)
def test_boxes_keep_known_parameters_and_bound_their_objective_from_below(name):
    tried = 0
    for seed in range(N_BOX_CASES + MOST_REFUSED):
        if seed >= N_BOX_CASES and tried > 4 * N_BOX_CASES:
            break
        found = attack(boxes.run, name, seed)
        tried += found[0] if found else 0
    assert tried > 4 * N_BOX_CASES


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", generator.NAMES)
def test_a_search_told_to_prove_one_nat_more_than_is_true_does_not(name):
    tried = 0
    for seed in range(N_NEGATIVE_CASES + MOST_REFUSED):
        if seed >= N_NEGATIVE_CASES and tried:
            break
        try:
            searches.run("negative", name, seed, max_nodes=NODES)
            tried += 1
        except InputError:
            pass
    assert tried


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("kind, name, seed", FOUND)
def test_what_long_runs_found_stays_mended(kind, name, seed):
    searches.run(kind, name, seed)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name, seed", FOUND_IN_BOXES)
def test_what_long_runs_found_of_boxes_stays_mended(name, seed):
    assert boxes.run(name, seed)[0] > 100


@pytest.mark.parametrize("kind", problems.KINDS)
def test_the_definitions_agree_with_the_problems(kind):
    """Two formulas of each model, written apart; otherwise the fuzzer's reference could be wrong."""
    rng = np.random.default_rng(0)
    for seed in range(5):
        problem = problems.make(kind, seed, sample_weight=rng.uniform(0.5, 2.0, 12))
        definition = definitions.define(problem)
        tau = rng.dirichlet(np.ones(problem.n_components), problem.n_samples)
        state = definition.best(tau)
        values = problem.maximize(tau)
        if problem.prior != "empirical":
            expected = problem.objective(**values, responsibilities=tau)
            assert float(definition.value(state, tau)[0]) == pytest.approx(expected, rel=1e-12)
            assert float(definition.value(state)[0]) == pytest.approx(problem.objective(**values), rel=1e-12)
        result = gopfast.solve(problem, max_nodes=20, n_threads=1)
        own = definition.value(definition.read(result.solution))[0]
        assert float(own) == pytest.approx(result.objective, rel=1e-9)


def test_an_attack_finds_a_bound_that_is_too_high():
    """A bound just above what a box holds, and a box that has lost its point, are failures."""
    problem = problems.make("diag", 0)
    definition, rng = definitions.define(problem), np.random.default_rng(0)
    family = engine.family(problem)
    relaxed = EntropicRelaxation(family)
    # at a fixed point of EM the relaxed dual of a box of no width is exact
    tau = definitions.define(problem, float).em(rng.dirichlet(np.ones(2), problem.n_samples), 5000, 1e-15)
    target = boxes.Target(definition, family, tau, rng)
    point, error = target.point.astype(float), target.error
    low, high = root_box(relaxed)
    boxes.attack_box(relaxed, target, point, error, point - error, point + error, 12.0, rng)
    target.value -= 1e-3
    with pytest.raises(boxes.Failure, match="bound"):
        for _ in range(20):
            boxes.attack_box(relaxed, target, point, error, point - error, point + error, 12.0, rng)
    with pytest.raises(boxes.Failure, match="empty|cut off"):
        boxes.attack_box(relaxed, target, high + 1.0, error, low, high, 12.0, rng)


def of_few_samples(rng):
    """Regressions of counts of which a component has the last sample or two, and its responsibilities."""
    X = np.column_stack([rng.normal(size=7), rng.normal(size=7)])
    X[5:] += 3.0
    y = np.concatenate([rng.poisson(200.0, 5), rng.poisson(4e5, 2)])
    problem = gopfast.RegressionMixture(X, y, 2, family="poisson")
    tau = np.zeros((7, 2))
    tau[:5, 0] = tau[5:, 1] = 1.0
    return problem, definitions.define(problem), tau


def coefficients(fit, q):
    """Coefficients and bounds of their errors."""
    return fit.values([(place, 0) for place in np.eye(q, dtype=int).tolist()])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("seed", range(4))
def test_coefficients_that_samples_leave_open_are_those_that_the_others_tend_to(seed):
    """Three of two samples: among the best the ones that the others have the least cost at, as of weights near 0."""
    problem, definition, tau = of_few_samples(np.random.default_rng(seed))
    state, mass = definition.best(tau), definition.w * tau[:, 1]
    (found, error), family = coefficients(definition.fit(mass), 3), engine.family(problem)
    assert (error < 1e-17 * (1 + np.abs(found))).all()
    assert float(definition.loss(mass, definition.Z @ found)) == pytest.approx(
        float((mass * (definition.y - definition.y * np.log(np.maximum(definition.y, 1.0)))).sum()), rel=1e-15
    )
    near = coefficients(definition.fit(mass + 1e-12 * definition.w), 3)[0]
    np.testing.assert_allclose(found.astype(float), near.astype(float), rtol=1e-8, atol=1e-8)
    cells, errors, *_ = definition.point(state, family)
    assert np.isfinite(errors.astype(float)).all()
    assert (cells >= family.design.low - errors).all() and (cells <= family.design.high + errors).all()


def two_fits(rng, kind, spread):
    """Counts that contradict each other at or about one regressor, and a count of 0 at another that it alone has."""
    n, trials = 9, 28
    X = np.append(-1.2 + spread * rng.normal(size=n - 1), 1.5)[:, None]
    y = np.append(rng.integers(1, trials, n - 1), 0)
    given = {} if kind == "poisson" else {"n_trials": np.full(n, trials)}
    problem = gopfast.RegressionMixture(X, y, 2, family=kind, least_count=1e-9, offset=rng.normal(size=n), **given)
    return definitions.define(problem)


def of_mpmath(definition, mass, start):
    """The best coefficients by mpmath's own solver."""
    columns = (definition.o, definition.counts, definition.trials, mass)
    rows = [(tuple(map(float, z)), *map(float, rest)) for z, *rest in zip(definition.Z, *columns, strict=True)]

    def slopes(slope, intercept):
        total = [0, 0]
        for (x, one), o, count, trials, m in rows:
            eta = x * slope + one * intercept + o
            mean = mpmath.exp(eta) if definition.is_poisson else trials / (1 + mpmath.exp(-eta))
            total = [total[0] + m * (mean - count) * x, total[1] + m * (mean - count) * one]
        return total

    with mpmath.workdps(60):
        return list(mpmath.findroot(slopes, [mpmath.mpf(float(x)) for x in start], tol=1e-70, verify=False))


@pytest.mark.parametrize("kind", ["poisson", "binomial"])
@pytest.mark.parametrize("share", [1.0, 1e-12, 1e-300, 0.0])
@pytest.mark.parametrize("seed", range(3))
def test_where_a_sample_is_alone_fits_of_counts_are_its_own_whatever_its_share(kind, share, seed):
    rng = np.random.default_rng([seed, len(kind)])
    definition = two_fits(rng, kind, 0.0)
    fit = definition.fit(np.append(rng.random(8), share).astype(definitions.LONG))
    (found,), (error,) = fit.values([([Fraction(1.5), 1], 0)])
    rest = 1 if kind == "poisson" else definition.trials[-1] - definition.counts[-1]
    own = np.log(definition.counts[-1] / rest) - definition.o[-1]
    assert error < 1e-17 * (1 + abs(found))
    assert abs(found - own) <= error + 8 * definitions.ROUND * (1 + abs(own))


@pytest.mark.parametrize("kind", ["poisson", "binomial"])
@pytest.mark.parametrize("share", [1.0, 1e-9])
@pytest.mark.parametrize("last", [0.02, 0.05, 0.1, 0.2, 0.75])
def test_claimed_errors_of_fits_of_counts_hold(kind, share, last, monkeypatch):
    """Against mpmath's solver, where Newton's method ends before time: the bounds are met within a factor of 50."""
    rng = np.random.default_rng(7)
    definition = two_fits(rng, kind, 1e-3)
    mass = np.append(rng.random(8), share)
    monkeypatch.setattr(count_fits, "LAST", last)
    monkeypatch.setattr(count_fits, "ENOUGH", 0.5)
    monkeypatch.setattr(count_fits, "ENOUGH_OF_VALUES", np.inf)
    fit = definition.fit(mass)
    found, error = coefficients(fit, 2)
    true = of_mpmath(definition, mass, found)
    places, ratios = [([Fraction(x) for x in rng.normal(size=2)], Fraction(rng.normal())) for _ in range(20)], []
    places += [([1, 0], 0), ([0, 1], 0)]
    for (place, shift), value, bound in zip(places, *fit.values(places), strict=True):
        with mpmath.workdps(60):
            p = map(count_fits.number, (*place, -shift))
            exactly = mpmath.fsum(x * b for x, b in zip(p, (*true, 1), strict=True))
            ratios.append(abs(count_fits.number(count_fits.exact(value)) - exactly) / float(bound))
    assert max(ratios) <= 1 and (last > 0.3 or max(ratios) > 0.02)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("change", ["bound", "cut off"])
@pytest.mark.parametrize("seed", range(4))
def test_attacks_find_wrong_bounds_of_components_that_their_samples_leave_open(change, seed, monkeypatch):
    """Bounds a part in 1,000 too high, and boxes that lose a hundredth of a side, around such points and others."""
    rng = np.random.default_rng(seed)
    problem, definition, tau = of_few_samples(rng)
    relaxed = EntropicRelaxation(engine.family(problem))
    target = boxes.Target(definition, engine.family(problem), tau, rng)
    assert np.isfinite(target.error).all()
    point = boxes.within_root(problem, target.point, target.error, *root_box(relaxed))

    def attacked(n):
        for _ in range(n):
            low, high = boxes.random_box(rng, point, target.error, *root_box(relaxed))
            low, high = np.maximum(low, point - 1e-3 - target.error), np.minimum(high, point + 1e-3 + target.error)
            boxes.attack_box(relaxed, target, point, target.error, low, high, 7.0, rng)

    attacked(40)
    probe = boxes.probe

    def wrong(relaxed, low, high, cutoff):
        least, most, lower = probe(relaxed, low, high, cutoff)
        if change == "bound":
            return least, most, lower + 1e-3 * (1 + abs(lower))
        least[-3:] += 0.01 * (most[-3:] - least[-3:])  # of the component of two samples
        return least, most, lower

    monkeypatch.setattr(boxes, "probe", wrong)
    with pytest.raises(boxes.Failure, match=change):
        attacked(40)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("is_told", [True, False])
def test_where_fits_are_not_to_be_told_nothing_is_put_in_order(is_told, monkeypatch):
    """A sample of the other component's, with a share next to nothing, determines what few digits do not find."""
    rng = np.random.default_rng(0)
    problem, definition, tau = of_few_samples(rng)
    tau = (1 - 1e-13) * tau + 1e-13 / 2
    if not is_told:
        monkeypatch.setattr(count_fits, "DIGITS", (30,))
    cells, errors, *_ = definition.point(definition.best(tau), engine.family(problem))
    assert np.isinf(errors[1].astype(float)).all() != is_told and np.isinf(float(errors[0, 0])) != is_told
    assert np.isfinite(errors[0, 1:].astype(float)).all()  # the other's are still looked at
    assert np.isfinite(cells.astype(float)).all()


@pytest.mark.parametrize(("attacks", "search_of_one", "saves_more"), [
    (classes, "FitSearch", "a class saves more"), (clusters, "CenterSearch", "a cluster saves more"),
])  # fmt: skip
def test_attacks_find_classes_that_save_more_and_objectives_below_a_bound(
    attacks, search_of_one, saves_more, monkeypatch
):
    """A supremum, a node's bound and a result's that are too good by 2 % are failures."""
    rng = np.random.default_rng(0)
    if attacks is classes:
        problem = gopfast.ClusterwiseRegression(rng.normal(size=12), rng.normal(size=12), 2)
    else:
        problem = gopfast.KMeans(rng.normal(size=(12, 2)), 3)
    assert attacks.attack_boxes(problem, rng) > 20
    assert attacks.attack_solve(problem, rng)[0] == 2
    with monkeypatch.context() as patch:
        bound = attacks.Node.bound
        patch.setattr(attacks.Node, "bound", lambda node, *others: [bound(node, *others), raised(node)][0])
        with pytest.raises(boxes.Failure, match="a node's bound"):
            for _ in range(20):
                attacks.attack_boxes(problem, rng)

    class Search(getattr(attacks, search_of_one)):
        def search(self, *arguments):
            sup, *others = super().search(*arguments)
            return 0.98 * sup, *others

    with monkeypatch.context() as patch:
        patch.setattr(attacks, search_of_one, Search)
        with pytest.raises(boxes.Failure, match=saves_more):
            for _ in range(50):
                attacks.attack_boxes(problem, rng)
    units = attacks.Search.in_users_units
    monkeypatch.setattr(attacks.Search, "in_users_units", lambda search, value: 1.02 * units(search, value))
    with pytest.raises(boxes.Failure, match="lower bound above"):
        for _ in range(20):
            attacks.attack_negative(problem, rng, max_nodes=200)


def raised(node):
    """Let a node claim more than is proved."""
    node.lower *= 1.02


@pytest.mark.parametrize("x", [1e-8, 0.5, 1.0, 1.0 + 1e-9, 31.7, 1e8, 1e14])
def test_log_gamma_is_exact_to_extended_precision(x):
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(40):
        own, exact = mpmath.mpf(str(definitions.log_gamma(x))), mpmath.loggamma(x)
        assert abs(own - exact) <= 100 * float(definitions.ROUND) * (1 + abs(exact) + x)


def test_masses_beside_huge_pseudo_counts_keep_their_rounding():
    """Found by the fuzzer: with a prior of 1e8 the masses' own digits are lost in sums, and a box was emptied."""
    tried, _ = boxes.run("categorical_prior", 9_400_000_047)
    assert tried > 100


def test_prices_that_did_not_settle_prove_nothing_false():
    """Found by the fuzzer: prices of the next turn were put beside the cells of the last one."""
    (tried, _), _ = searches.run("negative", "poisson_prior", 9_400_000_008)
    assert tried > 2  # and nothing was raised


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("covariance", everyday.KINDS)
def test_no_search_of_everyday_data_proves_more_than_is_true(covariance):
    tried = sum(attack(everyday.run, covariance, seed) is not None for seed in range(N_EVERYDAY_CASES))
    assert tried


def test_a_bound_of_everyday_data_that_says_too_much_is_found(monkeypatch):
    step = pricing_root.PricingBound.step

    def say_more(bound, deadline):
        more = step(bound, deadline)
        bound.lower += 200.0
        return more

    monkeypatch.setattr(pricing_root.PricingBound, "step", say_more)
    with pytest.raises(failure.Failure, match="proved what is false|above an attained"):
        everyday.run("known", 2)
