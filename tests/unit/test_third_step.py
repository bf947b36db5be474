"""Three-step analyses: outcomes and covariates of classes against the truth, definitions, and each other."""

import dataclasses

import numpy as np
import pytest

import gopfast
from gopfast.errors import InputError
from gopfast.mixtures.third_step import ASSIGNMENTS, METHODS, Assignment

pytestmark = pytest.mark.filterwarnings("error")
N = 3000
every_way = pytest.mark.parametrize(("method", "assignment"), [(m, a) for m in METHODS for a in ASSIGNMENTS])


@pytest.fixture(scope="module")
def survey():
    """Two classes of five answers that overlap, with a covariate before and two outcomes after."""
    rng = np.random.default_rng(5)
    z = rng.normal(size=N)
    classes = (rng.random(N) < 1.0 / (1.0 + np.exp(0.3 + z))).astype(int)
    answers = (rng.random((N, 5)) < np.where(classes[:, np.newaxis] == 0, 0.75, 0.25)).astype(int)
    income = np.where(classes == 0, 3.0, 1.0) + rng.normal(size=N)
    owner = np.where(rng.random(N) < np.where(classes == 0, 0.7, 0.2), "yes", "no")
    result = gopfast.solve(gopfast.LatentClass(answers, 2), 30.0, n_threads=1)
    if result.solution.probabilities[0][0, 1] < 0.5:
        z, order = -z, [1, 0]
    else:
        order = [0, 1]
    return result, z, income, owner, order


@pytest.fixture(scope="module")
def apart():
    """Three classes that no answer leaves in doubt."""
    classes = np.repeat([0, 1, 2], [5, 7, 4])
    result = gopfast.solve(gopfast.MultinomialMixture(40 * np.eye(3)[classes], 3), 0.1, n_threads=1)
    return result, result.predict()


@every_way
def test_adjusted_outcomes_are_near_the_truth_and_unadjusted_ones_are_not(survey, method, assignment):
    result, _, income, owner, order = survey
    found = result.distal(income, method=method, assignment=assignment)
    truth = np.array([3.0, 1.0])[order]
    assert (np.abs(found.estimates - truth) < 4.0 * found.errors + 0.05).all()
    assert (np.abs(found.unadjusted - truth) > 0.2).all() and found.p_value < 1e-20
    shares = result.distal(owner, method=method, assignment=assignment)
    truth = np.array([0.7, 0.2])[order]
    assert shares.categories == ("no", "yes") and shares.estimates.shape == (2, 2)
    np.testing.assert_allclose(shares.estimates.sum(axis=1), 1.0, rtol=1e-9)
    assert (np.abs(shares.estimates[:, 1] - truth) < 4.0 * shares.errors[:, 1]).all()
    assert (np.abs(shares.unadjusted[:, 1] - truth) > 0.05).all()


@every_way
def test_a_logit_of_the_class_is_near_the_truth(survey, method, assignment):
    result, z, _, _, order = survey
    found = result.covariates(z, method=method, assignment=assignment)
    truth = np.array([-0.3 if order == [0, 1] else 0.3, -1.0])
    assert (np.abs(found.coefficients[1] - truth) < 4.0 * found.errors[1]).all()
    assert (found.coefficients[0] == 0.0).all() and found.p_values[1, 1] < 1e-20


def test_both_methods_agree_where_the_outcome_is_free(survey):
    """Of labels neither assumes a distribution: the estimates are the same, and so are the errors."""
    result, _, _, owner, _ = survey
    one, other = (result.distal(owner, method=method) for method in METHODS)
    np.testing.assert_allclose(one.estimates, other.estimates, atol=1e-5)
    np.testing.assert_allclose(one.errors, other.errors, rtol=1e-3)
    assert one.statistic == pytest.approx(other.statistic, rel=1e-3)


def test_weights_divide_each_sample_among_the_classes(survey):
    result, _, income, _, _ = survey
    of = Assignment(result, "bch", "modal")
    np.testing.assert_allclose(of.weights.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(of.errors.sum(axis=1), 1.0, rtol=1e-12)
    # put back into classes, the average is that of all
    found = result.distal(income, assignment="modal")
    assert (of.weights.sum(axis=0) / N) @ found.estimates == pytest.approx(income.mean(), rel=1e-12)


@every_way
def test_classes_without_doubt_have_their_own_averages(apart, method, assignment):
    result, classes = apart
    y = np.random.default_rng(1).normal(size=16) + 10.0 * classes
    found = result.distal(y, method=method, assignment=assignment)
    own = [y[classes == k] for k in range(3)]
    np.testing.assert_allclose(found.estimates, [part.mean() for part in own], atol=1e-8)
    assert found.df == 2
    if method == "bch":  # the others have one variance
        errors = [np.sqrt(np.square(part - part.mean()).sum()) / len(part) for part in own]
        np.testing.assert_allclose(found.errors, errors, rtol=1e-6)


def test_missing_outcomes_leave_and_weights_repeat_samples(apart):
    result, classes = apart
    y = np.arange(16.0)
    y[3] = np.nan
    found = result.distal(y)
    assert found.n_samples == 15.0
    assert found.estimates[classes[3]] == pytest.approx(np.nanmean(y[classes == classes[3]]), abs=1e-8)
    assert result.distal([None, *range(1, 16)]).kind == "continuous"
    labels = np.array(["a"] * 8 + ["b"] * 8, dtype=object)
    labels[0] = None
    assert result.distal(labels, method="ml").n_samples == 15.0
    assert result.distal(np.arange(16) % 2, kind="categorical").categories == (0, 1)


def test_what_is_proved_is_said(survey):
    result, z, income, _, _ = survey
    for found in (result.distal(income), result.covariates(z)):
        assert "of which nothing is proved" in found.notes[0] and "OPTIMAL" in found.notes[0]
        assert "three steps (bch, proportional)" in str(found)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda result: result.distal([1.0]), "y must have one entry for each of the 16 samples"),
        (lambda result: result.distal(np.full(16, np.nan)), "y must have an entry that is not missing"),
        (lambda result: result.distal(np.full(16, np.inf)), "y must be finite"),
        (lambda result: result.distal(["a"] * 16, kind="continuous"), "y must be numbers where kind is 'continuous'"),
        (lambda result: result.distal(np.ones(16), method="naive"), "method must be one of 'bch', 'ml'"),
        (lambda result: result.distal(np.ones(16), assignment="all"), "assignment must be one of"),
        (lambda result: result.covariates(np.ones(16)), "Z must have no constant column"),
        (lambda result: result.covariates(np.ones((3, 2))), "Z must have one row for each of the 16 samples"),
    ],
)
def test_bad_input_is_named(apart, call, words):
    with pytest.raises(InputError, match=f"^{words}"):
        call(apart[0])


def test_classes_that_are_not_told_apart_are_refused():
    problem = gopfast.BernoulliMixture([[0, 1], [1, 1], [0, 0], [1, 0]], 2)
    solution = gopfast.MixtureSolution.canonical(problem, [0.4, 0.6], np.full((2, 2), 0.5))
    result = dataclasses.replace(gopfast.solve(problem, 0.5, n_threads=1), solution=solution)
    with pytest.raises(InputError, match="^the fit must tell its classes apart"):
        result.distal(np.arange(4.0))
    one = gopfast.solve(gopfast.PoissonMixture([1, 2, 3], 1))
    assert one.distal([1.0, 2.0, 6.0]).estimates == pytest.approx([3.0])
    with pytest.raises(InputError, match="^the fit must have two classes or more"):
        one.covariates([1.0, 2.0, 3.0])
