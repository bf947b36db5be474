"""The chosen number of components is the one that full solves choose, and the intervals hold."""

import inspect
import math

import numpy as np
import pytest
from support.datasets import acidity, galaxies

import gopfast
from gopfast import select
from gopfast.inference import selection
from gopfast.inference.candidates import SelectionStatus
from gopfast.inference.selection import FIRST_NODES, OUTER_BOUND_FROM
from gopfast.mixtures.families import scatter, tuning
from gopfast.mixtures.problems.covariance import MOST_COLUMNS_OF_MATRICES, compared
from gopfast.mixtures.solve import MixtureSearch
from gopfast.options import Options
from gopfast.result import Status


def criteria(X, sizes, criterion, model=gopfast.GaussianMixture, **arguments):
    """Criterion of each K by a solve to a tight tolerance."""
    found = {}
    for K in sizes:
        problem = model(X, K, **arguments)
        result = gopfast.solve(problem, 1e-4)
        assert result.success
        price = 2.0 if criterion == "aic" else math.log(problem.total_weight)
        found[K] = -2.0 * result.elbo + price * problem.n_parameters
    return found


@pytest.mark.parametrize("criterion", ["bic", "aic"])
@pytest.mark.parametrize("covariance", ["known", "tied", "tied_spherical", "diag"])
def test_the_choice_is_that_of_full_solves(criterion, covariance):
    X, sizes = galaxies()[::2], [1, 2, 3]
    found = select(X, sizes, criterion, covariance=covariance)
    full = criteria(X, sizes, criterion, covariance=covariance)
    assert found.status is SelectionStatus.PROVED
    assert found.n_components == min(full, key=full.get)
    for one in found.candidates:
        assert one.lower <= full[one.n_components] + 1e-6
        assert one.upper >= full[one.n_components] - 3e-4
        if one is not found.best:
            assert one.lower >= found.best.upper
    assert found.result.solution.problem.n_components == found.n_components


def test_counts_choose_their_number_of_components():
    rng = np.random.default_rng(1)
    X = rng.poisson(np.array([2.0, 10.0])[rng.integers(2, size=60)])
    found = select(X, [1, 2, 3], model=gopfast.PoissonMixture)
    full = criteria(X, [1, 2, 3], "bic", gopfast.PoissonMixture)
    assert found.status is SelectionStatus.PROVED
    assert found.n_components == min(full, key=full.get) == 2


def test_losers_are_not_solved_to_the_end():
    X = acidity()
    found = select(X, [1, 2, 3], covariance="diag", variance_floor=0.01)
    assert found.status is SelectionStatus.PROVED
    full = gopfast.solve(gopfast.GaussianMixture(X, 3, covariance="diag", variance_floor=0.01), 1e-2)
    three = found.candidates[2]
    assert found.n_components == 2
    assert three.n_nodes < full.n_nodes
    assert three.upper - three.lower > 0.1


def test_a_bound_of_all_numbers_of_components_ends_those_far_too_large(monkeypatch):
    monkeypatch.setattr(selection, "OUTER_BOUND_FROM", 128)  # before prices end them
    found = select(galaxies(), [3, 8, 12], covariance="diag", variance_floor=0.09)
    assert found.status is SelectionStatus.PROVED
    assert found.n_components == 3
    assert max(one.n_nodes for one in found.candidates) < 2 * OUTER_BOUND_FROM
    for one in found.candidates[1:]:
        assert one.result.status is not Status.CUTOFF
        assert found.best.upper <= one.lower <= one.upper


def test_a_search_goes_on_where_it_stopped():
    """The nodes of all turns together are those of one search with the cutoff."""
    X, arguments = galaxies(), {"covariance": "diag", "variance_floor": 0.09}
    found = select(X, [2, 3], **arguments)
    two, three = found.candidates
    assert two.result.status is Status.CUTOFF and two.n_nodes > FIRST_NODES
    problem = gopfast.GaussianMixture(X, 2, **arguments)
    cutoff = 0.5 * (three.upper - math.log(len(X)) * problem.n_parameters)
    once = MixtureSearch(problem, Options.from_arguments(1e-4)).run(cutoff=cutoff)
    assert once.status is Status.CUTOFF
    assert once.n_nodes <= two.n_nodes <= 1.5 * once.n_nodes + FIRST_NODES


def test_the_order_of_the_sizes_does_not_matter():
    X = galaxies()
    one, other = (select(X, sizes, covariance="tied") for sizes in (range(1, 5), [3, 1, 4, 2]))
    assert str(one).splitlines()[:-1] == str(other).splitlines()[:-1]
    assert [candidate.n_components for candidate in other.candidates] == [1, 2, 3, 4]


def test_without_time_the_choice_is_undecided_and_the_intervals_hold():
    X = galaxies()
    found = select(X, [2, 3], covariance="diag", variance_floor=0.09, time_limit=0.0)
    assert found.status is SelectionStatus.UNDECIDED
    assert "open" in str(found)
    full = criteria(X, [2], "bic", covariance="diag", variance_floor=0.09)
    assert found.candidates[0].lower <= full[2] <= found.candidates[0].upper + 1e-6


def test_without_time_families_are_made_with_counted_work(monkeypatch):
    """Directions that a tied family searches before any limit took half a second for each number of components."""
    calls, root = [], scatter._root
    monkeypatch.setattr(scatter, "_root", lambda *arguments: calls.append(1) or root(*arguments))
    n = 5_000
    X = np.random.default_rng(6).standard_normal((n, 5)) + 6.0 * np.eye(5)[np.arange(n) % 3]
    found = select(X, [2, 3], covariance="tied", time_limit=0.0)
    assert found.status == "UNDECIDED"
    assert 0 < len(calls) <= 2 * (5 + 2 * tuning.MOST_WORK_OF_FAMILY // n)


def test_models_that_cannot_be_told_apart_are_undecided():
    """Two K's, one price: the model ignores the number of components asked for."""

    def model(X, n_components):
        return Same(X, n_components, covariance="known")

    class Same(gopfast.GaussianMixture):
        n_parameters = 4

    # One cluster: more components than one change nothing.
    found = select([3.0, 3.1, 3.3], [1, 2], model=model)
    assert found.status is SelectionStatus.UNDECIDED
    assert found.n_components == 1


def test_weights_count_as_repetitions():
    X = np.array([-6.0, -5.0, -4.5, 4.0, 5.0, 6.0])
    weight = np.array([3.0, 1.0, 2.0, 2.0, 4.0, 1.0])
    weighted = select(X, [1, 2], covariance="known", sample_weight=weight)
    repeated = select(np.repeat(X, weight.astype(int)), [1, 2], covariance="known")
    for one, other in zip(weighted.candidates, repeated.candidates, strict=True):
        assert one.upper == pytest.approx(other.upper, abs=1e-6)


def test_the_report_shows_every_interval():
    found = select(galaxies(), [1, 2, 3], covariance="known")
    text = str(found)
    assert text.startswith("PROVED: 3 components by BIC")
    for one in found.candidates:
        assert f"{one.lower:.6f}" in text and f"{one.upper:.6f}" in text
    assert text.count("loses") == 2 and text.count("chosen") == 1
    assert "n_components=3" in repr(found)


@pytest.fixture(scope="module")
def choice():
    return select(galaxies(), range(1, 5), variance_floor=0.09, n_threads=1)


def test_kinds_of_covariance_are_chosen_among(choice):
    """By the least of what solves of each kind and number say."""
    full = {
        (kind, K): value
        for kind in ("diag", "tied")
        for K, value in criteria(galaxies(), [1, 2, 3], "bic", covariance=kind, variance_floor=0.09).items()
    }
    assert choice.status == "PROVED" and (choice.covariance, choice.n_components) == min(full, key=full.get)
    assert [one.key for one in choice.candidates] == [(kind, K) for kind in ("diag", "tied") for K in range(1, 5)]
    for one in choice.candidates:
        if one.key in full:
            assert one.lower <= full[one.key] + 1e-6 and one.upper >= full[one.key] - 3e-4
    assert {choice.state(one) for one in choice.candidates} <= {"proved", "bounded"}
    assert all(choice.loses(one) for one in choice.candidates if one is not choice.best)
    text = str(choice)
    assert f"*{choice.best.upper:.3f}" in text and text.count(">=") > 1
    assert "<table>" in choice._repr_html_() and "chosen" in choice._repr_html_()


def test_losers_show_what_they_attain_beside_their_bounds_and_exact_ones_no_bound(choice):
    text = str(choice)
    for one in choice.candidates:
        loser = f"{one.upper:.3f} >={one.lower:.3f}"
        assert (loser in text) is (not one.result.success)
        assert f"{one.upper:.3f}" in text and "?" not in text.split("open")[1]
    ones = [one for one in choice.candidates if one.n_components == 1]
    assert all(one.result.relaxation == "closed form" and one.result.success for one in ones)
    assert all(one.upper - one.lower < 1e-6 for one in ones)


def test_a_choice_has_a_limit_of_time_by_default():
    assert inspect.signature(select).parameters["time_limit"].default == 60.0


def test_searches_at_a_time_prove_the_same(choice):
    together = select(galaxies(), range(1, 5), variance_floor=0.09, n_jobs=3)
    assert (together.status, together.covariance, together.n_components) == ("PROVED", "diag", 3)
    assert together.best.upper == pytest.approx(choice.best.upper, abs=1e-3)
    for one, other in zip(choice.candidates, together.candidates, strict=True):
        assert one.key == other.key and other.lower <= one.upper + 1e-6 and one.lower <= other.upper + 1e-6


def test_the_choice_is_a_table(choice):
    pytest.importorskip("pandas")
    frame = choice.to_frame()
    assert len(frame) == 8 and frame.chosen.sum() == 1
    row = frame[frame.chosen].iloc[0]
    assert (row.covariance, row.n_components, row.n_parameters) == ("diag", 3, 8)
    assert (frame.lower <= frame.upper).all() and frame.loses.sum() == 7
    record = choice.to_dict()
    assert [one["lower"] for one in record["candidates"]] == frame.lower.tolist()


def test_entropy_counts_by_icl():
    X = galaxies()
    found = select(X, [1, 2, 3], "icl", covariance="tied")
    for one in found.candidates:
        result = gopfast.solve(gopfast.GaussianMixture(X, one.n_components, covariance="tied"), 1e-4)
        tau = result.solution.responsibilities
        entropy = -np.sum(np.where(tau > 0.0, tau * np.log(np.where(tau > 0.0, tau, 1.0)), 0.0))
        bic = -2.0 * result.log_likelihood + math.log(len(X)) * one.n_parameters
        assert one.lower <= bic + 1e-6
        if one.result.success:
            assert one.upper == pytest.approx(bic + 2.0 * entropy, abs=1e-2)
    assert found.status in ("PROVED", "OPTIMA")


def test_fits_that_entropy_alone_parts_are_told_from_proofs():
    """Two overlapping components: the BIC of two is below the ICL of one, so that only the fits are compared."""
    rng = np.random.default_rng(2)
    X = np.concatenate([rng.normal(-1.0, 1.0, 60), rng.normal(1.0, 1.0, 60)])
    found = select(X, [1, 2], "icl", covariance="known", noise_variance=1.0)
    assert found.status is SelectionStatus.OPTIMA
    assert all(one.result.success for one in found.candidates)
    assert select(X, [1, 2], covariance="known", noise_variance=1.0).n_components == 2


@pytest.mark.parametrize(("sizes", "edge"), [([1, 2], "upper"), ([3, 4], "lower"), ([1, 2, 3, 4], None), ([3], None)])
def test_a_choice_on_the_edge_of_the_range_is_noted(sizes, edge):
    found = select(galaxies(), sizes, covariance="diag", variance_floor=0.09)
    noted = [note for note in found.notes if "edge of the range" in note]
    assert len(noted) == (edge is not None)
    assert edge is None or (edge in noted[0] and noted[0] in str(found))


def test_kinds_that_coincide_or_cannot_be_solved_are_left_out_by_default():
    from gopfast.mixtures.families.matrix import MOST_COLUMNS

    assert MOST_COLUMNS_OF_MATRICES == MOST_COLUMNS
    assert compared(1) == ("diag", "tied")
    assert compared(2) == ("tied_spherical", "spherical", "tied_diag", "diag", "tied", "full")
    assert compared(33) == ("tied_spherical", "spherical", "tied_diag", "diag")
    X = np.column_stack([galaxies(), galaxies()[::-1]])[::8]
    found = select(X, [1], variance_floor=[0.09, 0.16])
    assert [one.covariance for one in found.candidates] == list(compared(2))
    assert [np.min(one.problem.variance_floor) for one in found.candidates] == [0.09] * 6
    known = select(galaxies(), [1, 2], noise_variance=4.0)
    assert known.covariance == "known" and known.best.problem.noise_variance == 4.0


def test_one_model_under_two_names_is_no_rival():
    found = select(galaxies(), [1], covariances=("diag", "tied", "full"))
    assert found.status == "PROVED" and str(found).count("*") == 4  # one of them in the head of the table
    assert not any(found.loses(one) for one in found.candidates)
    two = select(galaxies()[::2], [2], covariances=("diag", "full", "tied", "tied_spherical"))
    assert two.status == "PROVED"
    assert [one.coincides(two.candidates[0]) for one in two.candidates] == [True, True, False, False]
    known = select([1.0, 2.0, 5.0], [1], covariances=("known", "diag"))
    assert not known.candidates[0].coincides(known.candidates[1])


def test_the_criterion_is_drawn(choice):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    ax = choice.plot()
    assert ax.get_ylabel().startswith("BIC") and "chosen (proved)" in ax.get_legend_handles_labels()[1]
    low, high = ax.get_ylim()
    assert low < choice.best.upper < high
    uppers = sorted(one.upper for one in choice.candidates)
    assert uppers[4] < high < uppers[-1]  # the axis is that of the best five
    # a bar in the picture is of a model in it, or of one that is not yet proved to lose
    above = [one.upper for one in choice.candidates if one.upper > high and choice.loses(one)]
    starts = [segment.max() for bars in ax.collections for segment in (part[:, 1] for part in bars.get_segments())
              if segment.min() < segment.max()]  # fmt: skip
    assert above and not set(above) & set(starts)
    assert ax.get_legend().get_bbox_to_anchor().transformed(ax.transAxes.inverted()).x0 >= 1.0
    pyplot.close("all")


def test_a_single_size_is_proved_at_once():
    assert select([1.0, 2.0], [1]).status is SelectionStatus.PROVED


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"n_components": []}, "n_components"),
        ({"n_components": [2, 2]}, "n_components"),
        ({"n_components": [0]}, "n_components"),
        ({"n_components": 3}, "n_components"),
        ({"n_components": [99]}, "n_components"),
        ({"criterion": "dic"}, "criterion"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"time_limit": -1.0}, "time_limit"),
        pytest.param({"model": lambda X, K: 5}, "model", id="a model that is no problem"),
        ({"prior": "empirical", "covariance": "known"}, "prior"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"n_jobs": 1.5}, "n_jobs"),
        ({"covariances": "round"}, "covariances"),
        ({"covariances": []}, "covariances"),
        ({"covariances": ("diag", "diag")}, "covariances"),
        ({"covariances": "diag", "covariance": "tied"}, "covariances"),
        ({"covariances": "diag", "model": gopfast.PoissonMixture}, "covariances"),
    ],
    ids=str,
)
def test_a_bad_argument_is_named(changed, named):
    with pytest.raises(gopfast.InputError, match=named):
        select([1.0, 2.0, 3.0], **{"n_components": [1, 2], **changed})


def test_every_model_is_fitted_before_any_is_bounded(monkeypatch):
    turns, run = [], MixtureSearch.run

    def told(search, time_limit=None, max_nodes=None, cutoff=np.inf):
        turns.append((search.problem.n_components, max_nodes))
        return run(search, time_limit, max_nodes, cutoff)

    monkeypatch.setattr(MixtureSearch, "run", told)
    X = galaxies()
    found = select(X, [2, 3, 4], covariance="diag", variance_floor=0.09)
    assert turns[:3] == [(2, 0), (3, 0), (4, 0)] and all(nodes > 0 for _, nodes in turns[3:])
    assert found.status is SelectionStatus.PROVED
    for one in found.candidates:
        first = gopfast.solve(one.problem, 1e-4, max_nodes=1, log=False)
        assert one.result.objective <= first.objective + 2e-7  # to which first fits are made


def test_the_first_fit_alone_proves_nothing_and_the_search_goes_on_as_if_it_had_never_stopped():
    problem = gopfast.GaussianMixture(galaxies(), 3, covariance="known")
    once, twice = (MixtureSearch(problem, Options.from_arguments(1e-4, n_threads=1)) for _ in range(2))
    whole = once.run()
    first = twice.run(max_nodes=0)
    assert first.status is Status.NODE_LIMIT and first.n_nodes == 0
    assert first.lower_bound < whole.lower_bound and first.objective >= whole.lower_bound
    other = MixtureSearch(problem, Options.from_arguments(1e-4, n_threads=1))
    other.set_state(twice.state())  # as in another process
    for search in (twice, other):
        result = search.run()
        assert (result.status, result.n_nodes) == (whole.status, whole.n_nodes)
        assert (result.objective, result.lower_bound) == (whole.objective, whole.lower_bound)


def test_a_state_before_the_first_node_has_no_memory_that_nothing_was_written_to(monkeypatch):
    """Which is what may be there: a state that is refused only then."""

    def unwritten(shape, dtype=float, **options):
        made = np.zeros(shape, dtype, **options)
        if made.dtype.kind == "f":
            made.fill(np.nan)
        return made

    problem = gopfast.GaussianMixture(galaxies(), 3, covariance="known")
    monkeypatch.setattr(np, "empty", unwritten)
    search, other = (MixtureSearch(problem, Options.from_arguments(1e-4, n_threads=1)) for _ in range(2))
    search.run(max_nodes=0)
    other.set_state(search.state())
    assert other.run().status is Status.OPTIMAL


@pytest.mark.parametrize("limit", [0.0, 1e-3, 0.05])
def test_tiny_limits_give_a_valid_choice(limit):
    X = np.random.default_rng(0).standard_normal((300, 3)) + 4.0 * np.eye(3)[np.arange(300) % 3]
    found = select(X, [1, 2, 3], time_limit=limit)
    assert len(found.candidates) == 18 and str(found)
    for one in found.candidates:
        assert np.isfinite(one.upper) and one.lower <= one.upper
        assert one.result.status is not Status.INTERRUPTED
        solution = one.result.solution
        value = one.problem.objective(solution.weights, **solution.parameters)
        assert one.result.objective == pytest.approx(value, rel=1e-9)
    assert found.best.upper == min(one.upper for one in found.candidates)
    assert not found.interrupted


def test_nobody_is_said_to_have_interrupted_a_search_whose_turn_is_over():
    """The best model's turn ends as it beats the others: it may have been the last."""
    X = galaxies()
    for limits in ({}, {"time_limit": 0.02}):
        for sizes in ([3, 5, 2], [6, 4, 3, 2]):
            found = select(X, sizes, covariance="diag", variance_floor=0.09, epsilon=0.01, **limits)
            assert all(one.result.status is not Status.INTERRUPTED for one in found.candidates)
            assert "Ctrl-C" not in str(found.best.result)


class Clock:
    """A clock that stands still but for what `pass_by` adds."""

    def __init__(self):
        self.now = 100.0

    def perf_counter(self):
        return self.now

    def pass_by(self, seconds):
        self.now += seconds


def test_the_time_limit_is_shared_out(monkeypatch):
    """Fits take half of it at most, and what one leaves the others have; no turn is given more than there is."""
    clock, given, run = Clock(), [], MixtureSearch.run
    limit, sizes = 8.0, [2, 3, 4, 5]

    def told(search, time_limit=None, max_nodes=None, cutoff=np.inf):
        given.append((search.problem.n_components, max_nodes, time_limit, clock.now))
        found = run(search, None, max_nodes and min(max_nodes, 64), cutoff)
        clock.pass_by(time_limit if max_nodes else (0.1 if len(given) <= 2 else time_limit / 3.0))
        return found

    monkeypatch.setattr(selection, "time", clock)
    monkeypatch.setattr(MixtureSearch, "run", told)
    X = np.random.default_rng(3).standard_normal((60, 2))
    found = select(X, sizes, covariance="diag", time_limit=limit)
    fits, turns = given[:4], given[4:]
    assert [K for K, *_ in fits] == sizes and all(nodes == 0 for _, nodes, *_ in fits)
    shares = [seconds / 3.0 for _, _, seconds, _ in fits]
    np.testing.assert_allclose(shares, [1.0, 3.9 / 3.0, 3.8 / 2.0, 1.9])
    assert turns and turns[0][3] == pytest.approx(104.0)
    assert all(seconds <= 100.0 + limit - now + 1e-9 for _, _, seconds, now in turns)
    assert len({K for K, *_ in turns}) > 1  # in turns
    assert found.status is SelectionStatus.UNDECIDED
    assert found.best.result.status is Status.TIME_LIMIT
