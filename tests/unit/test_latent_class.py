"""Latent class models: how tables are read, missing entries, statistics, and bounds with missing entries."""

import itertools
import math
import pickle
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.search.probe import root_box

import gopfast
from gopfast.errors import InputError
from gopfast.mixtures import engine
from gopfast.mixtures.closed_form.ceiling import saturated_bound
from tests.support import definitions
from tests.support.exhaustive import brute_force_optimum
from tests.support.problems import random_state

ULP = Fraction(1, 2**53)


def table(n=12, d=3, seed=0, share=0.3):
    """A small table of labels 0 to 2 with missing entries in every column, as floats; the first row is complete."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (n, d)).astype(float)
    X[:, -1] = np.minimum(X[:, -1], 1.0)
    X[2:][rng.random((n - 2, d)) < share] = np.nan
    X[1] = np.nan
    return X


# Reading


@pytest.mark.parametrize(
    ("X", "options"),
    [
        ([["a", 1], [None, 2], ["b", None]], {}),
        ([["a", 1], [math.nan, 2], ["b", math.nan]], {}),
        ([["a", 1], ["?", 2], ["b", 9]], {"missing": ["?", 9]}),
        ([["a", 1.0], [None, 2], ["b", 9]], {"missing": 9}),
        (np.ma.masked_array(np.array([["a", 1], ["x", 2], ["b", 7]], dtype=object), [[0, 0], [1, 0], [0, 1]]), {}),
    ],
)
def test_missing_entries_have_no_code(X, options):
    problem = gopfast.LatentClass(X, 2, **options)
    assert problem.X.tolist() == [[0, 0], [-1, 1], [1, -1]]
    assert [levels.tolist() for levels in problem.categories] == [["a", "b"], [1, 2]]
    assert problem.columns == ("item 1", "item 2")


def test_data_frames_give_names_and_their_own_missing_entries():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({
        "colour": pandas.Categorical(["red", None, "blue"]),
        "size": pandas.array([3, 1, None], dtype="Int64"),
        "smooth": pandas.array([True, None, False], dtype="boolean"),
    })
    problem = gopfast.LatentClass(frame, 2)
    assert problem.columns == ("colour", "size", "smooth")
    assert problem.X.tolist() == [[1, 1, 1], [-1, 0, -1], [0, -1, 0]]


def test_columns_without_entries_are_left_out_unless_their_levels_are_given():
    X = [["a", None], ["b", None], ["b", None]]
    problem = gopfast.LatentClass(X, 2, columns=["x", "y"])
    assert (problem.columns, problem.left_out, problem.n_features) == (("x",), ("y",), 1)
    kept = gopfast.LatentClass(X, 2, categories=[["a", "b"], [1, 2, 3]], prior=1.5)
    result = gopfast.solve(kept)
    assert result.success
    np.testing.assert_allclose(result.solution.probabilities[1], 1 / 3)
    assert result.lower_bound <= definitions.of_solution(result) <= result.objective + 1e-9


@pytest.mark.parametrize(
    ("X", "options", "words"),
    [
        ([[None], [None]], {}, "X must have an entry"),
        ([["a", 1], ["b", "c"]], {}, r"X\[:, 1\] must hold labels of one kind"),
        ([[0.5, 1], [1.5, None]], {}, r"X\[:, 0\] must hold labels"),
        ([["a"], ["b"]], {"columns": ["x", "y"]}, "columns must have one name"),
        ([["a"], ["b"]], {"missing": [["a"]]}, "missing must be a label"),
        ([["a"], ["b"]], {"n_classes": 3}, "n_classes must be"),
        ([["a"], [None]], {"categories": [["b"]]}, r"categories\[0\] must have every label"),
    ],
)
def test_bad_tables_are_named(X, options, words):
    with pytest.raises(InputError, match=f"^{words}"):
        gopfast.LatentClass(X, **{"n_classes": 2, **options})


# The model


def test_a_missing_entry_leaves_the_product():
    problem = gopfast.LatentClass([["a", "x"], ["b", None], [None, None], ["a", "y"]], 2)
    p = (np.array([[0.3, 0.7], [0.6, 0.4]]), np.array([[0.2, 0.8], [0.9, 0.1]]))
    logs = np.exp(problem.log_densities(p))
    np.testing.assert_allclose(logs, [[0.06, 0.54], [0.7, 0.4], [1.0, 1.0], [0.24, 0.06]], rtol=1e-14)
    value = -np.log(0.5 * np.array([0.06 + 0.54, 1.1, 2.0, 0.3])).sum()
    assert problem.objective([0.5, 0.5], p) == pytest.approx(value, rel=1e-14)
    assert float(definitions.objective(problem, [0.5, 0.5], probabilities=p)) == pytest.approx(value, rel=1e-14)


def test_rows_without_entries_count_nothing():
    X = table()
    more = np.vstack([X, np.full((3, X.shape[1]), np.nan)])
    one, other = (gopfast.solve(gopfast.LatentClass(data, 2, prior=2.0)) for data in (X, more))
    assert one.objective == pytest.approx(other.objective, abs=0.02)
    assert other.success


def test_without_missing_entries_it_is_the_categorical_mixture():
    X = np.random.default_rng(3).integers(0, 3, (20, 2))
    one, other = (gopfast.solve(model(X, 2)) for model in (gopfast.CategoricalMixture, gopfast.LatentClass))
    assert (one.objective, one.lower_bound, one.n_nodes) == (other.objective, other.lower_bound, other.n_nodes)


def test_a_component_without_entries_of_an_item_keeps_its_probabilities():
    problem = gopfast.LatentClass([["a", "x"], ["a", "y"], ["b", None], ["b", None]], 2)
    tau = np.repeat(np.eye(2), 2, axis=0)
    found = problem.maximize(tau)["probabilities"][1]
    np.testing.assert_allclose(found, 0.5)
    former = {"weights": [0.5, 0.5], "probabilities": ([[0.5, 0.5]] * 2, [[0.5, 0.5], [0.2, 0.8]])}
    np.testing.assert_allclose(problem.maximize(tau, **former)["probabilities"][1], [[0.5, 0.5], [0.2, 0.8]])


# Bounds


@pytest.mark.parametrize("prior", [None, 1.0, 1.6])
@pytest.mark.parametrize("seed", range(3))
def test_a_cell_bounds_what_components_of_it_cost(prior, seed):
    """Minorant and facets in fractions, at masses whose means lie in the cell; the costs in mpmath."""
    rng = np.random.default_rng(seed)
    problem = gopfast.LatentClass(table(seed=seed), 2, prior=prior)
    family = engine.family(problem)
    columns, weights = family.data.arrays()
    low, high = root_box(EntropicRelaxation(family))
    order = np.asarray(family.data.order)
    groups = np.concatenate([[j] * n for j, n in enumerate(problem.n_categories)])[order]
    alpha = (prior or 1.0) - 1.0
    nu, chi = alpha * np.array(problem.n_categories)[groups], alpha
    assert (columns.sum(axis=0) < problem.n_features).any() and len(columns) == sum(problem.n_categories)
    d = len(columns)
    for _ in range(30):
        tau = rng.dirichlet(np.full(2, 10.0 ** rng.uniform(-1.5, 0.5)), columns.shape[1])
        # multiples of 2^-40: all sums are exact
        tau = np.round(tau[:, 0] * 2.0**40) / 2.0**40
        S, T = [], []
        for share in (tau, 1.0 - tau):
            S.append(Fraction(float(weights @ share)))
            T.append([Fraction(float((weights * share) @ column)) for column in columns])
        means = np.array([
            [float((T[k][j] + Fraction(chi)) / (sum(T[k][i] for i in range(d) if groups[i] == groups[j])
                                               + Fraction(float(nu[j])))) for j in range(d)]
            for k in range(2)
        ]).ravel()  # fmt: skip
        reach = 10.0 ** rng.uniform(-6, 0, len(means)) * rng.integers(0, 2, len(means))
        box = np.maximum(low, means - reach), np.minimum(high, means + reach + 1e-15)
        box = np.minimum(box[0], means * (1 - 1e-15)), box[1]
        sub = family.subproblem(*box)
        assert (sub["centers"] == 0).all()
        exact = [[S[k], *T[k]] for k in range(2)]
        prior_weight = 1 if alpha else 0
        value = sum(Fraction(float(sub["minorant"][k, s])) * exact[k][s] for k in range(2) for s in range(1 + d))
        value += Fraction(float(sub["minorant_rest"][0])) * prior_weight + Fraction(float(sub["minorant_rest"][1]))
        with mpmath.workdps(40):
            cost = mpmath.mpf(0)
            for k, j in itertools.product(range(2), range(d)):
                total = sum(T[k][i] for i in range(d) if groups[i] == groups[j]) + Fraction(float(nu[j]))
                part = T[k][j] + Fraction(chi)
                if part > 0:
                    m = mpmath.mpf((part / total).numerator) / (part / total).denominator
                    cost -= mpmath.mpf(part.numerator) / part.denominator * mpmath.log(m)
            assert mpmath.mpf(value.numerator) / value.denominator <= cost
        for row, rest in zip(sub["facets"], sub["facet_rest"], strict=True):
            flat = exact[0] + exact[1]
            facet = sum(Fraction(float(row[s])) * flat[s] for s in range(len(flat)))
            assert facet + Fraction(float(rest[0])) * prior_weight + Fraction(float(rest[1])) >= -4 * ULP * sum(flat)


@pytest.mark.parametrize("prior", [None, 1.5])
@pytest.mark.parametrize("seed", range(3))
def test_tables_with_missing_entries_are_proved(prior, seed):
    problem = gopfast.LatentClass(table(n=6, d=2, seed=seed), 2, prior=prior)
    reference = brute_force_optimum(problem, n_kept=3, n_random=4)
    result = gopfast.solve(problem, max_nodes=60_000)
    assert result.success
    assert result.lower_bound <= reference + 1e-9
    assert result.objective >= reference - 1e-6
    assert result.lower_bound <= definitions.of_solution(result) <= result.objective + 1e-12


def test_rows_that_lack_different_entries_do_not_exclude_each_other():
    """The entropy of all rows would be 2 log 4; two of the patterns are certain where the rows agree."""
    problem = gopfast.LatentClass([["a", "x"], ["a", None], [None, "x"], [None, None]], 2, sample_weight=[1, 2, 3, 4])
    result = gopfast.solve(problem)
    assert result.objective == pytest.approx(0.0, abs=1e-9)
    assert saturated_bound(problem, engine.family(problem)) <= 0.0


@pytest.mark.parametrize("seed", range(5))
def test_the_saturated_bound_is_a_bound_with_missing_entries(seed):
    problem = gopfast.LatentClass(table(n=10, d=2, seed=seed, share=0.5), 3)
    bound = saturated_bound(problem, engine.family(problem))
    rng = np.random.default_rng(seed)
    values = []
    for _ in range(20):
        state = random_state(problem, rng)
        for _ in range(50):
            state = problem.maximize(problem.responsibilities(**state), **state)
        values.append(problem.objective(**state))
    assert 0.0 < bound <= min(values)
    # with as many components as there are patterns the bound of each is attained by complete rows alone
    whole = gopfast.LatentClass([["a"], ["b"], ["b"], [None]], 1)
    assert saturated_bound(whole, engine.family(whole)) == pytest.approx(gopfast.solve(whole).objective, abs=1e-10)


# Statistics


def carcinoma(K):
    table, columns = gopfast.datasets.load_labels("carcinoma")
    problem = gopfast.LatentClass(table, K, columns=columns)
    rng = np.random.default_rng(5)
    runs = [gopfast.local.em(problem, random_state=int(seed)) for seed in rng.integers(1000, size=8)]
    return problem, problem.fit_statistics(min(runs, key=lambda run: run.objective))


def test_statistics_are_those_that_are_published():
    """poLCA's manual: carcinoma with three classes."""
    problem, fit = carcinoma(3)
    assert fit.log_likelihood == pytest.approx(-293.705, abs=1e-3)
    assert (fit.n_parameters, fit.degrees_of_freedom, fit.n_patterns, fit.n_samples) == (23, 95, 20, 118)
    assert fit.aic == pytest.approx(633.41, abs=0.01)
    assert fit.bic == pytest.approx(697.1357, abs=0.01)
    assert fit.g_squared == pytest.approx(15.26171, abs=0.01)
    assert fit.x_squared == pytest.approx(20.50336, abs=0.05)
    np.testing.assert_allclose(np.sort(fit.class_sizes), [0.1817, 0.3736, 0.4447], atol=2e-3)
    assert fit.log_likelihood_bound == math.inf
    text = str(fit)
    assert "3 classes, 7 items" in text and "G^2 15.26" in text and "G = 2" in text


def test_tables_are_frames():
    pytest.importorskip("pandas")
    problem = gopfast.LatentClass([["a", 1], ["b", 2], ["a", None], ["a", 1]], 2, columns=["colour", "size"])
    fit = problem.fit_statistics(gopfast.solve(problem))
    responses = fit.item_responses()
    assert responses.index.tolist() == [("colour", "a"), ("colour", "b"), ("size", 1), ("size", 2)]
    np.testing.assert_allclose(responses.groupby("item").sum(), 1.0)
    assert list(responses.columns) == fit.class_names == ["class 1", "class 2"]
    patterns = fit.patterns()
    assert patterns[["colour", "size", "observed"]].to_numpy().tolist() == [["a", 1, 2.0], ["b", 2, 1.0]]
    assert (fit.n_samples, fit.n_complete, fit.n_patterns) == (4.0, 3.0, 3)
    assert fit.residuals().loc["size", "colour"] == fit.bivariate_residuals[0, 1] >= 0.0


def test_bivariate_residuals_are_those_of_the_table_of_two_items():
    """Of one class: Pearson's statistic of independence."""
    from scipy.stats import chi2_contingency

    X = np.random.default_rng(0).integers(0, 3, (200, 2))
    problem = gopfast.LatentClass(X, 1)
    fit = problem.fit_statistics(gopfast.solve(problem))
    cells = np.zeros((3, 3))
    np.add.at(cells, tuple(X.T), 1)
    statistic, _, df, _ = chi2_contingency(cells, correction=False)
    assert fit.bivariate_residuals[0, 1] == pytest.approx(statistic / df, rel=1e-9)
    assert fit.x_squared == pytest.approx(statistic, rel=1e-9)
    assert fit.degrees_of_freedom == df == 4
    assert math.isnan(fit.bivariate_residuals[0, 0])
    assert fit.log_likelihood_bound >= fit.log_likelihood


def test_what_takes_a_mixture_takes_a_latent_class_model():
    X = table(n=40, d=2, seed=2)
    chosen = gopfast.select(X, [1, 2], model=gopfast.LatentClass)
    assert chosen.n_components == 1
    problem = pickle.loads(pickle.dumps(gopfast.LatentClass(X, 2)))
    result = gopfast.solve(problem, max_nodes=50_000)
    verdict = gopfast.certify(problem, result.solution, max_nodes=50_000)
    assert verdict.lower_bound <= result.objective
    fit = problem.fit_statistics(result)
    assert fit.log_likelihood == pytest.approx(result.log_likelihood, rel=1e-9)
    assert fit.log_likelihood_bound == result.log_likelihood_bound


@pytest.mark.parametrize("seed", range(2))
def test_many_rows_with_missing_entries_have_summaries(seed):
    """The bound of a coarse summary is one of all samples: below what a known mixture attains."""
    rng = np.random.default_rng(seed)
    member = rng.random((5000, 1)) < 0.4
    X = (rng.random((5000, 9)) < np.where(member, 0.9, 0.2)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    problem = gopfast.LatentClass(X, 2)
    family = engine.family(problem)
    result = gopfast.solve(problem, max_nodes=30)
    run = gopfast.local.em(problem, result)
    assert family.data.arrays()[0].shape[1] > 1000
    assert result.lower_bound <= run.objective <= result.objective + 1e-6
    assert result.objective < gopfast.solve(gopfast.LatentClass(X, 1)).objective - 1000


def test_bad_fits_are_named():
    problem = gopfast.LatentClass(table(), 2)
    with pytest.raises(InputError, match="^fit must have class sizes"):
        problem.fit_statistics([0.5, 0.5])


def test_a_proof_with_missing_entries_is_checked():
    table = [[0, 1, None], [1, 0, 1], [0, 0, 0], [1, 1, 1]]
    problem = gopfast.LatentClass(table, 2)
    result = gopfast.solve(problem, proof=True)
    found = gopfast.check(result.proof, table, problem=problem)
    assert found.lower_bound == pytest.approx(result.lower_bound, abs=1e-6)
    assert result.objective - 0.011 <= found.lower_bound
