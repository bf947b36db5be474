"""Estimators of counts, times, binary data and labels do what scikit-learn asks, and what the problems say."""

import numpy as np
import pytest

pytest.importorskip("sklearn")
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

import gopfast

WIDE = {"epsilon": 1e5}  # ends the searches at the root


def expected_failures(estimator):
    counted = (gopfast.GlobalPoissonMixture, gopfast.GlobalMultinomialMixture)
    if isinstance(estimator, (*counted, gopfast.GlobalCategoricalMixture)):
        failing = {"check_sample_weight_equivalence_on_dense_data": "its data are neither counts nor labels"}
        if isinstance(estimator, gopfast.GlobalLatentClass):
            failing["check_positive_only_tag_during_fit"] = "its data are no labels"
        if isinstance(estimator, gopfast.GlobalMultinomialMixture):
            names = ("check_sample_weight_equivalence_on_sparse_data", "check_estimator_sparse_array",
                     "check_estimator_sparse_matrix")  # fmt: skip
            failing |= dict.fromkeys(names, "its data are no counts")
        return failing
    return {}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        gopfast.GlobalBernoulliMixture(2, **WIDE),
        gopfast.GlobalPoissonMixture(2, **WIDE),
        gopfast.GlobalMultinomialMixture(2, **WIDE),
        gopfast.GlobalExponentialMixture(2, prior=(2.0, 1.0), **WIDE),
        gopfast.GlobalCategoricalMixture(2, **WIDE),
        gopfast.GlobalLatentClass(2, **WIDE),
        gopfast.GlobalMixedMixture(2, **WIDE),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


CASES = {
    "bernoulli": (gopfast.GlobalBernoulliMixture, gopfast.BernoulliMixture, "probabilities"),
    "poisson": (gopfast.GlobalPoissonMixture, gopfast.PoissonMixture, "rates"),
    "multinomial": (gopfast.GlobalMultinomialMixture, gopfast.MultinomialMixture, "probabilities"),
    "gamma": (gopfast.GlobalGammaMixture, gopfast.GammaMixture, "rates"),  # scikit-learn's checks have zeros
    "exponential": (gopfast.GlobalExponentialMixture, gopfast.ExponentialMixture, "rates"),
    "categorical": (gopfast.GlobalCategoricalMixture, gopfast.CategoricalMixture, "probabilities"),
    "latent class": (gopfast.GlobalLatentClass, gopfast.LatentClass, "probabilities"),
}


def data(case):
    rng = np.random.default_rng(1)
    half = np.arange(40)[:, np.newaxis] < 15
    if case == "poisson":
        return rng.poisson(np.where(half, 2.0, 11.0))
    if case == "gamma":
        return rng.gamma(np.where(half, 3.0, 20.0))
    if case == "multinomial":
        return rng.poisson(np.where(half, [[9.0, 2.0, 1.0]], [[2.0, 8.0, 3.0]]))
    if case == "exponential":
        return rng.exponential(np.where(half, 1.0, 20.0))
    bits = rng.random((40, 3)) < np.where(half, 0.1, 0.9)
    return bits.astype(int) if case == "bernoulli" else np.where(bits, "yes", "no").astype(object)


@pytest.mark.parametrize("case", CASES)
def test_a_fit_is_that_of_the_problem(case):
    estimator, problem, name = CASES[case]
    X = data(case)
    model = estimator(2, epsilon=1e-3).fit(X)
    result = gopfast.solve(problem(X, 2), 1e-3)
    assert model.converged_ and model.lower_bound_ <= model.elbo_bound_
    assert 40 * model.lower_bound_ == pytest.approx(result.elbo, abs=2e-3)
    fitted, expected = getattr(model, f"{name}_"), getattr(result.solution, name)
    for one, other in zip(fitted, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-2, rtol=1e-2)
    np.testing.assert_allclose(model.predict_proba(X), model.result_.predict_proba(), atol=1e-12)
    assert model.score(X) == pytest.approx(model.lower_bound_) and model.bic(X) > model.aic(X)
    drawn, components = model.sample(7)
    assert drawn.shape == (7, X.shape[1]) and (np.diff(components) >= 0).all()
    assert clone(model).fit(X[:20]).n_features_in_ == X.shape[1]


def test_missing_entries_are_taken_and_told():
    table = data("latent class")
    table[0, 0] = table[3, 1] = None
    model = gopfast.GlobalLatentClass(2, epsilon=0.1).fit(table)
    assert model.fit_statistics_.n_complete == 38 and model.predict(table[:1]).shape == (1,)
    assert [labels.tolist() for labels in model.categories_] == [["no", "yes"]] * 3
    with pytest.raises(ValueError, match="missing|NaN"):
        gopfast.GlobalCategoricalMixture(2).fit(table)


def test_a_limit_warns_and_names_the_estimator():
    X = np.random.default_rng(0).poisson(5.0, (300, 4))
    with pytest.warns(ConvergenceWarning, match="GlobalPoissonMixture is not proved"):
        gopfast.GlobalPoissonMixture(4, time_limit=0.0).fit(X)


def test_values_are_binarized_unless_told_otherwise():
    X = [[0.2, -3.0], [0.7, 1.0], [-1.0, 2.0]]
    assert gopfast.GlobalBernoulliMixture(1).fit(X).result_.solution.problem.X.tolist() == [[1, 0], [1, 1], [0, 1]]
    with pytest.raises(ValueError, match="zeros and ones"):
        gopfast.GlobalBernoulliMixture(1, binarize=None).fit(X)


def test_estimators_are_found_by_completion():
    for name in gopfast.__all__:
        if name.startswith("Global"):
            assert name in dir(gopfast) and getattr(gopfast, name).__name__ == name
