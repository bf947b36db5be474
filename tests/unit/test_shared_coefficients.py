"""Mixtures of regressions whose components share a coefficient: what users see."""

import numpy as np
import pytest
from support import shared_coefficients as drawing

import gopfast
from gopfast import cli, datasets
from gopfast.errors import InputError, InputTypeError
from gopfast.mixtures import shared_coefficients as searching
from gopfast.mixtures.problems import shared_coefficients as sharing
from gopfast.models import RegressionMixture
from gopfast.options import Options

TONE = datasets.load_tonedata()
BETA = datasets.load_betablocker()


def tone(shared="x", **given):
    return RegressionMixture(TONE[:, 0], TONE[:, 1], 2, shared_coefficients=shared, **given)


def beta(n_components=3, **given):
    deaths, total, center, treated = BETA.T
    return RegressionMixture(
        treated, deaths, n_components, family="binomial", n_trials=total, groups=center, shared_coefficients=0, **given
    )


def test_names_numbers_and_the_intercept():
    X = np.random.default_rng(0).normal(size=(12, 3))
    for given, found in (("x1", "x1"), (0, "x0"), ([np.int64(1)], "x1"), (["intercept"], "intercept")):
        assert RegressionMixture(X, n_components=2, shared_coefficients=given).shared_coefficients == (found,)
    assert RegressionMixture(X, n_components=2, shared_coefficients=[]).shared_coefficients == ()
    assert RegressionMixture(X, n_components=2).shared_coefficients == ()
    assert "shared_coefficients=('x',)" in repr(tone())
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X, columns=["dose", "intercept", "y"])
    named = RegressionMixture(table, n_components=2, shared_coefficients="intercept")
    assert named._shared_at == 1  # the column, where one has this name


@pytest.mark.parametrize(
    ("given", "kind", "text"),
    [
        ("z", InputError, "must be of x, intercept, by name or number from 0; got 'z'"),
        (1, InputError, "must be of x, intercept, by name or number from 0; got 1"),
        (True, InputError, "must be of x, intercept, by name or number from 0; got True"),
        (1.5, InputTypeError, "must be names or numbers of regressors; got float"),
        ([0, 0], InputError, "must be different; got x, x"),
        ([0, "intercept"], InputError, "must leave each component a coefficient of its own"),
    ],
)
def test_bad_names_are_one_clear_error(given, kind, text):
    with pytest.raises(kind, match="shared_coefficients " + text):
        tone(given)


def test_components_keep_coefficients_of_their_own():
    with pytest.raises(InputError, match="must leave each component a coefficient of its own"):
        tone(0, fit_intercept=False)
    for given in ({"shared_coefficients": "intercept"}, {"shared_coefficients": 0, "fit_intercept": False}):
        X = np.random.default_rng(0).normal(size=(20, 2))
        with pytest.raises(InputError, match="must leave each component an intercept of its own with family='poisson'"):
            RegressionMixture(X, np.arange(20), 2, family="poisson", **given)


def test_parameters_are_counted_once_where_they_are_shared():
    assert tone().n_parameters == 6 and tone(None).n_parameters == 7
    assert tone(variance="shared").n_parameters == 5
    assert beta(4).n_parameters == 3 + 4 + 1
    assert beta(1).n_parameters == 2


def test_one_component_shares_with_nobody():
    plain = gopfast.solve(RegressionMixture(TONE[:, 0], TONE[:, 1], 1), log=False)
    shared = gopfast.solve(RegressionMixture(TONE[:, 0], TONE[:, 1], 1, shared_coefficients=0), log=False)
    assert shared.objective == plain.objective and shared.bic == plain.bic
    assert shared.relaxation == "closed form"


@pytest.mark.parametrize("family", drawing.FAMILIES)
def test_the_mixture_of_a_fixed_coefficient_has_the_same_densities(family):
    case, rng = drawing.drawn(family, 1, n=12, K=3, p=2, grouped=True)
    fixed = sharing.fixed(case, 0.25)
    assert fixed.shared_coefficients == () and fixed.n_parameters == case.n_parameters - 1
    state = fixed.maximize(drawing.shares(case, rng))
    own = {name: value for name, value in state.items() if name != "weights"}
    wide = sharing.widened(case, 0.25, own)
    assert np.allclose(case.log_densities(**wide), fixed.log_densities(**own), rtol=1e-9, atol=1e-9)
    value, back = sharing.narrowed(case, wide)
    assert value == 0.25 and all(np.array_equal(back[name], own[name]) for name in own)


def test_published_data_are_proved():
    known = gopfast.solve(tone(noise_variance=0.01), log=False)
    assert known.status == "OPTIMAL" and round(known.objective, 4) == 6.3918
    centers = gopfast.solve(beta(), log=False)
    assert centers.status == "OPTIMAL" and round(centers.objective, 3) == 159.361
    assert np.ptp(centers.solution.coefficients) == 0.0
    assert np.round(centers.solution.intercepts, 3).tolist() == [-2.834, -2.250, -1.610]
    assert centers.notes[0] == "the coefficient of x is one number for all components (shared_coefficients)"
    assert centers.relaxation == "fixed coefficient" and centers.n_nodes > 0
    free = gopfast.solve(RegressionMixture(
        BETA[:, 3], BETA[:, 0], 3, family="binomial", n_trials=BETA[:, 1], groups=BETA[:, 2]), log=False)  # fmt: skip
    assert free.lower_bound <= centers.objective  # what is free is no worse


def test_a_result_is_as_of_other_mixtures():
    result = gopfast.solve(tone(noise_variance=0.01), log=False)
    again = gopfast.Result.from_json(result.to_json(), tone(noise_variance=0.01))
    assert again.objective == result.objective and again.lower_bound == result.lower_bound
    rows = [one for one in result.summary().estimates if one.parameter == "coefficient"]
    assert [(one.component, one.place) for one in rows] == [(None, "x")] and 0.01 < rows[0].error < 0.03
    second = gopfast.solve(tone(noise_variance=0.01), start=result, log=False)
    assert second.objective <= result.objective + 1e-9
    assert result.bic == pytest.approx(2 * result.objective + 4 * np.log(150))
    with pytest.raises(InputError, match="must be equal in all components where they are shared"):
        tone().objective([0.5, 0.5], [[0.1], [0.2]], [0.0, 1.0], [1.0, 1.0])


def test_of_a_shared_intercept_the_error_is_its_own():
    summary = gopfast.solve(tone("intercept", noise_variance=0.01), log=False).summary()
    assert [one.component for one in summary.estimates if one.parameter == "intercept"] == [None]
    assert [one.component for one in summary.estimates if one.parameter == "coefficient"] == [0, 1]


def test_limits_callbacks_and_cutoffs():
    seen = []
    stopped = gopfast.solve(tone(), callback=lambda state: seen.append(state) or len(seen) == 3, log=False)
    assert stopped.status == "INTERRUPTED" and len(seen) == 3
    assert gopfast.solve(tone(), max_nodes=1, log=False).status == "NODE_LIMIT"
    early = gopfast.solve(tone(), time_limit=0.0, log=False)
    assert early.status == "TIME_LIMIT" and early.lower_bound < early.objective


def several(**given):
    """Two lines of their own intercepts, beside slopes of two regressors that are the same."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 2))
    y = np.where(rng.integers(2, size=30), 2.0, -2.0) + X @ [1.0, -0.5] + 0.3 * rng.normal(size=30)
    return RegressionMixture(X, y, 2, noise_variance=0.09, shared_coefficients=["x1", "x0"], **given)


def test_several_are_proved_and_told(tmp_path, capsys):
    case = several()
    assert case.shared_coefficients == ("x1", "x0") and case.n_parameters == 5
    result = gopfast.solve(case, log=False, n_threads=1)
    assert result.status == "OPTIMAL" and np.ptp(result.solution.coefficients, axis=0).tolist() == [0.0, 0.0]
    assert result.notes[:2] == (
        "the coefficient of x1 is one number for all components (shared_coefficients)",
        "the coefficient of x0 is one number for all components (shared_coefficients)",
    )
    free = gopfast.solve(
        RegressionMixture(case.regressors, case.response, 2, noise_variance=0.09, shared_coefficients=0), log=False
    )
    assert free.lower_bound <= result.objective  # what is free is no worse
    shared = [one.place for one in result.summary().estimates if one.component is None and one.parameter[:4] == "coef"]
    assert sorted(shared) == ["x0", "x1"]
    again = gopfast.Result.from_json(result.to_json(), several())
    assert again.objective == result.objective
    with pytest.raises(InputError, match="proofs have no entry yet for"):
        gopfast.solve(case, proof=True, log=False)
    data, fit = tmp_path / "two.csv", tmp_path / "fit.json"
    np.savetxt(data, case.X, delimiter=",", header="a,b,y", comments="")
    command = ["regress", str(data), "-k", "2", "--response", "y", "--noise-variance", "0.09", "-q", "--json", str(fit)]
    assert cli.main([*command, "--shared-coefficient", "b", "--shared-coefficient", "a"]) == 0
    assert "shared_coefficients" in fit.read_text()
    assert cli.main(["certify", str(data), str(fit), "--response", "y", "-q"]) == 0


def test_several_have_no_range_but_that_which_bounds_give():
    """Of four samples no block rules out a far value."""
    case = several()
    few = RegressionMixture(case.X[:4, :2], case.X[:4, 2], 2, noise_variance=0.09, shared_coefficients=[0, 1])
    with pytest.raises(InputError, match="shared_coefficients must be one for these data"):
        gopfast.solve(few, log=False)


def test_what_is_not_offered_is_one_clear_error(tmp_path):
    case = tone(noise_variance=0.01)
    for options, text in (
        ({"checkpoint": str(tmp_path / "c")}, "checkpoint must be None with shared_coefficients"),
        ({"relaxation": "linear"}, "relaxation must be None with shared_coefficients"),
        ({"branching": "orthant"}, "branching must be None with shared_coefficients"),
        ({"start": np.zeros((2, 1))}, "start must hold coefficients and intercepts"),
    ):
        with pytest.raises(InputError, match=text):
            gopfast.solve(case, log=False, **options)
    with pytest.raises(InputError, match="problem must have no shared_coefficients"):
        gopfast.optima(case)


def test_choice_and_test_of_the_number_of_components():
    def model(X, n_components, **given):
        return RegressionMixture(X, n_components=n_components, **given)

    chosen = gopfast.select(TONE, [1, 2], model=model, noise_variance=0.01, shared_coefficients="x", log=False)
    assert chosen.status == "PROVED" and chosen.best.n_components == 2
    assert [one.n_parameters for one in chosen.candidates] == [2, 4]
    test = gopfast.lrt(tone(noise_variance=0.02)._with(n_components=1), n_resamples=2, log=False)
    assert test.proved.all()


def test_the_estimator_and_the_command(tmp_path, capsys):
    pytest.importorskip("sklearn")
    model = gopfast.GlobalRegressionMixture(2, noise_variance=0.01, shared_coefficients=0, verbose=0)
    model.fit(TONE[:, :1], TONE[:, 1])
    assert model.converged_ and np.ptp(model.coefficients_) == 0.0
    path = tmp_path / "tone.csv"
    path.write_text("ratio,tuned\n" + "\n".join(f"{x},{y}" for x, y in TONE.tolist()) + "\n", encoding="utf-8")
    arguments = ["regress", str(path), "-k", "2", "--response", "tuned", "--noise-variance", "0.01"]
    assert cli.main([*arguments, "--shared-coefficient", "ratio"]) == 0
    assert "the coefficient of ratio is one number" in capsys.readouterr().out
    assert cli.main([*arguments, "--shared-coefficient", "z"]) == 2
    assert "--shared-coefficient: there is no column 'z'" in capsys.readouterr().err
    assert cli.main([*arguments, "--shared-coefficient", "tuned"]) == 2
    assert "--shared-coefficient must be a regressor" in capsys.readouterr().err
    fit = str(tmp_path / "fit.json")
    assert cli.main([*arguments, "--shared-coefficient", "1", "--json", fit]) == 0
    assert cli.main(["certify", str(path), fit, "--response", "tuned"]) == 0


def test_what_searches_of_fixed_coefficients_do_is_counted():
    """All that mechanisms do at all values of the coefficient, alike in every run."""
    found = [gopfast.solve(beta(2), n_threads=1, log=False) for _ in range(2)]
    counts = [[row[:4] for row in result.profile.values()] for result in found]
    assert counts[0] == counts[1]
    profile = found[0].profile
    assert profile["local_search"].calls > 0 and profile["relaxed_dual"].terms > 0
    assert profile["relaxed_dual"].calls >= found[0].n_nodes > 0


def test_a_search_that_rounding_keeps_from_what_is_needed_goes_on_once_and_is_done(monkeypatch):
    """It would say the same for ever, with twice the limit of nodes each time."""
    monkeypatch.setattr(searching, "rounding_loss", lambda problem, value, lower: 1.0)
    options = Options.from_arguments(n_threads=1, log=False)
    state = {"weights": [0.5, 0.5], "intercepts": [1.0, 2.0], "coefficients": np.zeros((2, 0)), "variances": [0.1, 0.1]}
    solved = searching.FixedCoefficient(tone(), 0.5, options, state)
    while not solved.done:
        solved.go_on(None, np.inf, np.inf)
    at, wanted, turns = searching.FixedCoefficient(tone(), 0.5, options, state), solved.upper - 0.5, 0
    while not at.done:
        at.go_on(None, wanted, wanted)
        turns += 1
        assert turns < 20
    assert at.lower < wanted <= at.lower + 1.0 + 1e-9


@pytest.mark.parametrize("family", ["poisson", "binomial"])
def test_a_regressor_may_be_zero_wherever_counts_hold_predictions(family):
    """The rows of far values are those whose counts are not at an end of their range."""
    x, z = np.repeat([0.0, 1.0], [8, 4]), np.linspace(-1.0, 1.0, 12) ** 3
    counts, trials = np.append(np.tile([1, 2, 3, 4], 2), np.zeros(4)), {"n_trials": 5} if family == "binomial" else {}
    case = RegressionMixture(np.column_stack([x, z]), counts, 2, family=family, shared_coefficients=1, **trials)
    result = gopfast.solve(case, 0.5, n_threads=1, log=False)
    assert result.success


def test_an_end_whose_start_says_nothing_has_a_search_like_others():
    """EM attains 1e300 at a far value, whose rounding is more than all else: intervals were divided there for ever."""
    case, _ = drawing.drawn("poisson", 0)
    search = searching.SharedCoefficientSearch(case, Options.from_arguments(n_threads=1, log=False))
    result = search.run(None, 1000)
    assert result.status == "NODE_LIMIT" and len(search.values) < 100
