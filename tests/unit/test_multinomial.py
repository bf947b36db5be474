"""Rows of counts: what is refused, what edges give, notes, sparse tables, draws."""

import math

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import multinomial

import gopfast
from gopfast.errors import InputError
from gopfast.mixtures import engine
from gopfast.mixtures.closed_form.ceiling import saturated_bound
from gopfast.mixtures.problems import multinomial as rows

pytestmark = pytest.mark.filterwarnings("error")
X = np.array([[5, 0, 1], [9, 1, 0], [0, 4, 3], [1, 7, 9], [0, 0, 0], [0, 0, 12]])


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ([[1.5, 2.0]], "X must hold counts, whole numbers of at least 0; got 1.5"),
        ([[1, -2]], "X must be at least 0"),
        ([[1], [2]], "X must have at least two columns"),
        ([[0, 0], [0, 0]], "X must have a count above 0"),
        ([[2.0**53, 2.0**53]], "X must have rows of at most 2\\^53 counts"),
    ],
)
def test_what_is_no_row_of_counts_is_refused(table, words):
    with pytest.raises(InputError, match=f"^{words}"):
        gopfast.MultinomialMixture(table, 1)


def test_sparse_tables_are_made_dense_up_to_a_size(monkeypatch):
    for kind in (sparse.csr_matrix, sparse.coo_array):
        assert (gopfast.MultinomialMixture(kind(X), 2).X == X).all()
    monkeypatch.setattr(rows, "MOST_DENSE_ENTRIES", X.size - 1)
    with pytest.raises(InputError, match="^X must have at most 17 entries"):
        gopfast.MultinomialMixture(sparse.csr_array(X), 2)


def test_one_component_has_the_shares_of_all_counts():
    result = gopfast.solve(gopfast.MultinomialMixture(X, 1), 1e-9)
    p = X.sum(axis=0) / X.sum()
    assert result.success and result.n_nodes == 0
    assert result.objective == pytest.approx(-multinomial(X.sum(axis=1), p).logpmf(X).sum(), abs=1e-9)
    np.testing.assert_allclose(result.solution.probabilities, [p], rtol=1e-14)


def test_groups_apart_have_their_own_shares_and_rows_of_zeros_say_nothing():
    table = np.array([[9, 0, 1], [20, 1, 0], [0, 8, 9], [1, 30, 28]])
    result = gopfast.solve(gopfast.MultinomialMixture(table, 2), 1e-6)
    assert result.success
    parts = [table[2:].sum(axis=0), table[:2].sum(axis=0)]
    np.testing.assert_allclose(result.solution.probabilities, [p / p.sum() for p in parts], atol=1e-3)
    more = gopfast.solve(gopfast.MultinomialMixture(np.vstack([table, np.zeros((3, 3))]), 2), 1e-6)
    assert more.success and more.objective == pytest.approx(result.objective, abs=3e-6)


def test_a_prior_keeps_probabilities_from_0():
    table = np.array([[9, 0, 1], [20, 1, 0], [0, 8, 9], [0, 30, 28]])
    bare, pulled = (gopfast.solve(gopfast.MultinomialMixture(table, 2, prior=prior)) for prior in (None, 2.0))
    assert bare.success and pulled.success
    assert (bare.solution.probabilities == 0.0).any() and pulled.solution.probabilities.min() > 0.01


def test_single_counts_are_labels():
    """With one count in each row a multinomial mixture is a categorical one of one column, and not unique."""
    labels = np.array([0, 1, 2, 0, 0, 1])
    result = gopfast.solve(gopfast.MultinomialMixture(np.eye(3)[labels], 2))
    other = gopfast.solve(gopfast.CategoricalMixture(labels, 2))
    assert result.success and result.objective == pytest.approx(other.objective, abs=0.02)
    assert any("no row has 3 counts" in note for note in result.notes)
    assert not gopfast.solve(gopfast.MultinomialMixture(X, 2)).notes


def test_rows_of_different_totals_do_not_exclude_each_other():
    """The entropy of the rows is that within each total; over all rows it would exceed what components attain."""
    table = np.array([[3, 0], [3, 0], [0, 3], [5, 0], [0, 5], [0, 0]])
    problem = gopfast.MultinomialMixture(table, 2)
    bound = saturated_bound(problem, engine.family(problem))
    assert bound == pytest.approx(3 * math.log(3.0) - 2 * math.log(2.0) + 2 * math.log(2.0), abs=1e-9)
    assert bound <= problem.objective([0.6, 0.4], [[1.0, 0.0], [0.0, 1.0]]) < -(table.any(axis=1).sum()) * math.log(0.2)


def test_draws_have_totals_of_the_data():
    result = gopfast.solve(gopfast.MultinomialMixture(X, 2))
    drawn, components = result.sample(50, np.random.default_rng(1))
    assert drawn.shape == (50, 3) and set(drawn.sum(axis=1)) <= set(X.sum(axis=1))
    assert set(components) == {0, 1}


def test_standard_errors_of_one_component_are_the_binomial_ones():
    result = gopfast.solve(gopfast.MultinomialMixture(X, 1), 1e-9)
    p, N = result.solution.probabilities[0], X.sum()
    found = [one.error for one in result.summary().estimates if one.parameter == "probability"]
    np.testing.assert_allclose(found, np.sqrt(p * (1.0 - p) / N), rtol=1e-4)
