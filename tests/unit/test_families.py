"""Mixtures of binary data, counts, waiting times and labels: their arguments and their edges."""

import math

import numpy as np
import pytest

from gopfast.errors import InputError, InputTypeError
from gopfast.models import BernoulliMixture, CategoricalMixture, ExponentialMixture, PoissonMixture

pytestmark = pytest.mark.filterwarnings("error")
ROWS = {BernoulliMixture: [0, 1, 1], PoissonMixture: [0, 3, 7], ExponentialMixture: [0.5, 1.0, 9.0]}
every_family = pytest.mark.parametrize("family", ROWS)

# Data


@pytest.mark.parametrize(
    "X", [[True, False, True], np.array([1, 0, 1], dtype=np.uint8), [1.0, 0.0, 1.0], [[1], [0], [1]]]
)
def test_binary_data_of_every_kind(X):
    np.testing.assert_array_equal(BernoulliMixture(X, 2).X, [[1.0], [0.0], [1.0]])


@every_family
@pytest.mark.parametrize(
    "bad",
    [[], 1.0, [[[1.0]]], np.empty((3, 0)), [1.0, math.nan], [1.0, math.inf], [[1, 2], [1]], ["a", "b"], None, [1j, 1],
     [-1, 1], {"a": 1}, np.ma.masked_array([1.0, 1.0], mask=[0, 1])],
)  # fmt: skip
def test_bad_data_are_named(family, bad):
    with pytest.raises(InputError, match="^X must"):
        family(bad, 1)


@pytest.mark.parametrize("bad", [[0, 2], [0.5, 1], [0, -1]])
def test_data_that_are_not_binary_are_refused(bad):
    with pytest.raises(InputError, match="^X must hold zeros and ones only; got"):
        BernoulliMixture(bad, 1)


@pytest.mark.parametrize(
    ("bad", "words"), [([0.5, 1], "hold counts.*got 0.5"), ([1e16, 1], "be at most"), ([-1], "be at least 0")]
)
def test_data_that_are_no_counts_are_refused(bad, words):
    with pytest.raises(InputError, match=f"^X must {words}"):
        PoissonMixture(bad, 1)


@every_family
def test_booleans_are_no_numbers_except_for_binary_data(family):
    if family is BernoulliMixture:
        assert family([True, False], 1).n_samples == 2
    else:
        with pytest.raises(InputTypeError, match="^X must be an array of real numbers"):
            family([True, True], 1)


def test_exact_zeros_need_a_prior_in_an_exponential_mixture():
    X = [[1.0, 2.0], [3.0, 0.0], [2.0, 1.0]]
    for tiny in (0.0, 1e-310):
        X[1][1] = tiny
        with pytest.raises(InputError, match=r"^X must be at least 1e-300 without a prior, but column 1 has .*prior="):
            ExponentialMixture(X, 2)
    X[1][1] = 0.0
    assert ExponentialMixture(X, 2, sample_weight=[1, 0, 1]).n_samples == 3
    problem = ExponentialMixture(X, 2, prior=(2.0, 0.5))
    found = problem.maximize([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    np.testing.assert_allclose(found["rates"], [[3.0 / 3.5, 3.0 / 3.5], [2.0 / 3.5, 2.0 / 0.5]])
    assert math.isfinite(problem.objective(**found))


def test_exponential_data_whose_sum_overflows_are_refused():
    with pytest.raises(InputError, match="^X is too large"):
        ExponentialMixture([1e308, 1e308], 1)


# Priors


@pytest.mark.parametrize(
    ("family", "bad", "name"),
    [
        (BernoulliMixture, (0.5, 1), r"\[0\]"),
        (BernoulliMixture, (1, math.inf), r"\[1\]"),
        (BernoulliMixture, (1, None), r"\[1\]"),
        (PoissonMixture, (0.5, 1), r"\[0\]"),
        (PoissonMixture, (1, 0), r"\[1\]"),
        (PoissonMixture, (1, math.nan), r"\[1\]"),
        (ExponentialMixture, (0.5, 1), r"\[0\]"),
        (ExponentialMixture, (1, -1), r"\[1\]"),
        *((family, bad, "") for family in ROWS for bad in (1.0, "empirical", (1.0,), (1.0, 2.0, 3.0), True)),
    ],
)
def test_bad_prior_is_named(family, bad, name):
    with pytest.raises(InputError, match=f"^prior{name} must"):
        family(ROWS[family], 1, prior=bad)


@pytest.mark.parametrize("bad", [0.9, math.inf, math.nan, "flat", (1.0, 1.0), True])
def test_bad_dirichlet_prior_is_named(bad):
    with pytest.raises(InputError, match="^prior must be a finite number of at least 1"):
        CategoricalMixture([1, 2], 1, prior=bad)


def test_flat_priors_only_add_their_constant():
    tau = [[0.2, 0.8], [0.5, 0.5], [0.9, 0.1]]
    cases = [
        (BernoulliMixture(ROWS[BernoulliMixture], 2), BernoulliMixture(ROWS[BernoulliMixture], 2, prior=(1, 1)), 0.0),
        # Dirichlet(1, 1, 1) has density 2 on its simplex, one for each component.
        (CategoricalMixture([1, 2, 3], 2), CategoricalMixture([1, 2, 3], 2, prior=1), -2.0 * math.log(2.0)),
    ]
    for plain, flat, shift in cases:
        state = plain.maximize(tau)
        np.testing.assert_array_equal(np.hstack(flat.maximize(tau)["probabilities"]), np.hstack(state["probabilities"]))
        assert flat.objective(**state) == pytest.approx(plain.objective(**state) + shift, rel=1e-13)


def test_prior_modes():
    tau = np.ones((3, 1))
    assert BernoulliMixture([0, 1, 1], 1, prior=(3, 2)).maximize(tau)["probabilities"] == pytest.approx(4.0 / 6.0)
    assert PoissonMixture([0, 3, 7], 1, prior=(3, 2)).maximize(tau)["rates"] == pytest.approx(12.0 / 5.0)
    assert ExponentialMixture([0.5, 1, 9], 1, prior=(3, 2)).maximize(tau)["rates"] == pytest.approx(5.0 / 12.5)
    (found,) = CategoricalMixture(["a", "b", "b"], 1, prior=2.0).maximize(tau)["probabilities"]
    np.testing.assert_allclose(found, [[2.0 / 5.0, 3.0 / 5.0]])


# Edges


def test_saturated_probabilities_are_exact():
    problem = BernoulliMixture([[0, 1], [0, 1], [1, 0]], 2)
    sharp = {"weights": [2 / 3, 1 / 3], "probabilities": [[0.0, 1.0], [1.0, 0.0]]}
    expected = -2.0 * math.log(2 / 3) - math.log(1 / 3)
    assert problem.objective(**sharp) == pytest.approx(expected, rel=1e-14)
    tau = [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    np.testing.assert_array_equal(problem.responsibilities(**sharp), tau)
    assert problem.objective(**sharp, responsibilities=tau) == pytest.approx(expected, rel=1e-14)
    assert problem.objective(**sharp, responsibilities=np.full((3, 2), 0.5)) == math.inf
    np.testing.assert_array_equal(problem.maximize(tau)["probabilities"], sharp["probabilities"])
    np.testing.assert_array_equal(
        problem.log_densities(probabilities=sharp["probabilities"]), [[0, -math.inf], [0, -math.inf], [-math.inf, 0]]
    )


@pytest.mark.parametrize(
    ("problem", "parameters"),
    [
        (BernoulliMixture([0, 1, 1], 2), {"probabilities": [[0.0], [0.0]]}),
        (PoissonMixture([0, 3, 7], 2), {"rates": [[0.0], [0.0]]}),
        (ExponentialMixture([1.0, 3, 7], 2), {"rates": [[0.0], [0.0]]}),
        (CategoricalMixture(["a", "b", "b"], 2), {"probabilities": ([[1.0, 0.0], [1.0, 0.0]],)}),
    ],
)
def test_impossible_samples_cost_infinitely_and_follow_the_weights(problem, parameters):
    assert problem.objective([0.3, 0.7], **parameters) == math.inf
    tau = problem.responsibilities([0.3, 0.7], **parameters)
    np.testing.assert_allclose(tau, [[0.3, 0.7]] * 3, rtol=1e-14)
    assert np.isneginf(problem.log_densities(**parameters)[2]).all()
    without = type(problem)(ROWS.get(type(problem), ["a", "b", "b"]), 2, sample_weight=[1.0, 0.0, 0.0])
    if type(problem) is not ExponentialMixture:
        assert without.objective([0.3, 0.7], **parameters) == pytest.approx(0.0, abs=1e-15)


def test_zero_counts_have_probability_one_at_rate_zero():
    problem = PoissonMixture([[0, 5], [0, 6], [0, 50]], 2)
    found = problem.maximize([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    np.testing.assert_array_equal(found["rates"], [[0.0, 5.5], [0.0, 50.0]])
    column = PoissonMixture([5, 6, 50], 2)
    rates = found["rates"][:, 1:]
    assert problem.objective(**found) == column.objective(found["weights"], rates)


def test_unused_components_of_a_posterior_mode_take_the_mode_of_the_prior():
    tau = [[1.0, 0.0]] * 3
    assert BernoulliMixture([0, 1, 1], 2, prior=(3, 2)).maximize(tau)["probabilities"][1] == pytest.approx(2.0 / 3.0)
    assert PoissonMixture([0, 3, 7], 2, prior=(3, 4)).maximize(tau)["rates"][1] == pytest.approx(0.5)
    found = ExponentialMixture([0.5, 1, 9], 2, prior=(1, 4)).maximize(tau)
    assert found["rates"][1] == 0.0


def test_log_densities_far_out_do_not_underflow():
    assert PoissonMixture([1000], 1).log_densities(rates=[1e-300]) == pytest.approx(-696687.9, rel=1e-6)
    assert ExponentialMixture([1e5], 1).log_densities(rates=[1.0]) == -1e5


@every_family
@pytest.mark.parametrize("bad", [[-0.1, 0.5], [[0.5]], [[0.5, 0.5]], [math.inf, 1.0]])
def test_bad_parameters_of_a_family_are_named(family, bad):
    problem = family(ROWS[family], 2)
    with pytest.raises(InputError, match=f"^{problem.parameter_names[0]} must"):
        problem.log_densities(bad)


def test_probabilities_above_one_are_refused():
    with pytest.raises(InputError, match="^probabilities must be at most 1; its greatest entry is 1.5"):
        BernoulliMixture([0, 1], 1).log_densities([1.5])


# Labels


@pytest.mark.parametrize(
    ("X", "labels", "codes"),
    [
        (["b", "a", "b"], [["a", "b"]], [1, 0, 1]),
        (np.array(["b", "a", "b"]), [["a", "b"]], [1, 0, 1]),
        ([7, -2, 7], [[-2, 7]], [1, 0, 1]),
        ([7.0, -2.0, 7.0], [[-2, 7]], [1, 0, 1]),
        ([True, False, True], [[0, 1]], [1, 0, 1]),
        ([["b", 3], ["a", 1], ["b", 1]], [["a", "b"], [1, 3]], [[1, 1], [0, 0], [1, 0]]),
        ([["b", 3]] * 3, [["b"], [3]], [[0, 0]] * 3),
    ],
)
def test_labels_become_codes(X, labels, codes):
    problem = CategoricalMixture(X, 2)
    assert [found.tolist() for found in problem.categories] == labels
    np.testing.assert_array_equal(problem.X, np.reshape(codes, (3, -1)))
    assert problem.X.dtype.kind == "i"
    assert problem.n_categories == tuple(map(len, labels))


def test_labels_of_a_data_frame_keep_their_kinds():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"colour": ["red", "blue", "red"], "size": [3, 1, 3]})
    problem = CategoricalMixture(frame, 2)
    assert [found.tolist() for found in problem.categories] == [["blue", "red"], [1, 3]]
    missing = pandas.DataFrame({"colour": ["red", None, "red"]})
    for X in missing, pandas.DataFrame({"size": pandas.array([1, None, 2], dtype="Int64")}):
        with pytest.raises(InputTypeError, match=r"^X\[:, 0\] must hold labels of one kind.*for LatentClass"):
            CategoricalMixture(X, 2)


@pytest.mark.parametrize(
    "bad", [[1, "a"], [0.5, 1.0], [None, "a"], [math.nan, 1.0], [1j, 2j], [b"a", "a"], [[[1]]], [], 5, "abc",
            [[1, 2], [1]], np.ma.masked_array([1, 2], mask=[0, 1])]
)  # fmt: skip
def test_bad_labels_are_named(bad):
    with pytest.raises(InputError, match=r"^X(\[:, 0\])? must"):
        CategoricalMixture(bad, 1)


def test_given_categories_may_exceed_those_found():
    problem = CategoricalMixture(["b", "a", "b"], 2, categories=[["z", "b", "a"]])
    np.testing.assert_array_equal(problem.X[:, 0], [1, 2, 1])
    assert problem.categories[0].tolist() == ["z", "b", "a"]
    (found,) = problem.maximize([[1.0, 0.0], [0.5, 0.5], [1.0, 0.0]])["probabilities"]
    np.testing.assert_allclose(found, [[0.0, 0.8, 0.2], [0.0, 0.0, 1.0]])


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ([["a"]], r"categories\[0\] must have every label of X\[:, 0\]; 'b' is missing"),
        ([["a", "b", "a"]], r"categories\[0\] must not repeat"),
        ([["a", 1]], r"categories\[0\] must hold labels of one kind"),
        ([[1, 2]], r"categories\[0\] must have every label"),
        ([[]], r"categories\[0\] must have"),
        (["a", "b"], "categories must be a list with one entry for each of the 1 columns"),
        ("ab", "categories must be a list"),
        ([3], r"categories\[0\] must have"),
    ],
)
def test_bad_categories_are_named(bad, words):
    with pytest.raises(InputError, match=f"^{words}"):
        CategoricalMixture(["b", "a", "b"], 1, categories=bad)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ([[0.5, 0.5]], "probabilities must be a list"),
        (([[0.5, 0.5]], [[1.0]]), r"probabilities\[1\] must have shape \(1, 3\)"),
        (([[0.6, 0.5]], [[1.0, 0.0, 0.0]]), r"probabilities\[0\] must sum to 1"),
        (([[0.5, 0.5]], [[1.5, -0.5, 0.0]]), r"probabilities\[1\] must be at least 0"),
    ],
)
def test_bad_category_probabilities_are_named(bad, words):
    with pytest.raises(InputError, match=f"^{words}"):
        CategoricalMixture([["a", 1], ["b", 2], ["b", 3]], 1).log_densities(bad)
