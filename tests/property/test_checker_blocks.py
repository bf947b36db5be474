"""Blocks of columns in the checker: accepted of real fits, refused where anything is changed, never above a mixture."""

import numpy as np
import pytest

import gopfast
from gopfast.checker import ProofError, blocks, check, file
from gopfast.checker.problem import Problem
from gopfast.checker.verify import Bounds
from gopfast.mixtures import engine
from gopfast.mixtures.block_record import BlockRecords
from gopfast.mixtures.pricing import raised
from gopfast.mixtures.pricing.cover import CoverBound
from gopfast.mixtures.pricing.grouped import GroupedBound
from gopfast.mixtures.pricing.raised import RaisedBound
from gopfast.mixtures.recording import Recorder
from gopfast.mixtures.statement import statement_of
from tests.support import proofs
from tests.support.savings import best_known


def problem_of(covariance, n, d, K, gap=5.0, seed=0):
    """Clusters far from 0, with weights, ties and columns of unlike widths."""
    rng = np.random.default_rng(seed)
    X = (gap * rng.normal(size=(K, d)))[rng.integers(K, size=n)] + rng.normal(size=(n, d))
    X = np.round(X, 2) * np.linspace(2.0, 0.5, d) + 30.0
    weights = rng.choice([0.0, 0.5, 1.0, 2.0], n)
    known = {} if covariance == "known" else {"variance_floor": 0.2}
    return gopfast.GaussianMixture(X, K, covariance=covariance, sample_weight=weights, **known)


def bounds_of(problem):
    return Bounds(Problem(problem._record_of_proof(), *proofs.arguments(problem)))


def recorded(problem, bound_of, n_steps):
    """What a bound has come to, as a proof has it; the checker's bounds and reference; a mixture's objective."""
    family = engine.family(problem)
    vector, value = best_known(family, starts=4, tolerance=1e-9, most=500)
    checked = Problem(problem._record_of_proof(), *proofs.arguments(problem))
    records = BlockRecords(statement_of(family, family.one_component(problem), checked))
    bounds = records.statement.bounds
    bound = bound_of(family, vector, value, records)
    for _ in range(n_steps):
        if not bound.step(np.inf):
            break
    arrays = {name: np.asarray(part, file.ARRAYS["mixture"][name][0]) for name, part in records.arrays().items()}
    return arrays, bounds, records.statement.reference, bound.lower, value


def by_groups(problem):
    def make(family, vector, value, records):
        return GroupedBound(family, problem, vector, value + 50.0, record=records.of_all())

    return recorded(problem, make, 60)


def by_cover(problem):
    def make(family, vector, value, records):
        return CoverBound(family, vector, value, records=records)

    return recorded(problem, make, 80)


@pytest.fixture(scope="module", params=["diag", "spherical"])
def grouped(request):
    return by_groups(problem_of(request.param, 1_500, 2, 3))


def by_raised(problem):
    def make(family, vector, value, records):
        return RaisedBound(family, problem, vector, value + 50.0, record=records.of_all())

    return recorded(problem, make, 60)


RAISED = [("diag", True), ("spherical", True), ("spherical", False), ("full", True), ("known", True)]


@pytest.fixture(scope="module", params=RAISED, ids=str)
def raised_high(request):
    """By groups of samples and without them."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("GROUPED", "GROUPED_FULL", "GROUPED_DIAGONAL"):
            patch.setattr(raised, name, 1_000 if request.param[1] else 10_000)
        # whatever the heights are worth
        worth = {"LOSS": 1.0, "MERGED": np.inf, "MERGED_KNOWN": np.inf, "SLACK": 1e9, "HEIGHTS": raised.HEIGHTS[6:]}
        for name, value in worth.items():
            patch.setattr(raised, name, value)
        made = by_raised(problem_of(request.param[0], 1_500, 2, 3))
    return made


@pytest.fixture(scope="module", params=[("diag", False), ("spherical", False), ("diag", True)], ids=str)
def covered(request):
    """Without prices as high as merging allows in sets of three columns, and with them."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param[1]:
            for name, value in {"GROUPED": 500, "LOSS": 1.0, "MERGED": np.inf, "SLACK": 1e9,
                                "HEIGHTS": raised.HEIGHTS[6:]}.items():  # fmt: skip
                patch.setattr(raised, name, value)
        made = by_cover(problem_of(request.param[0], 600, 4, 2))
    return made


def test_cells_of_groups_prove_to_the_checker_what_they_prove_to_the_search(grouped):
    arrays, bounds, reference, lower, value = grouped
    found, n_cells = blocks.bound(bounds, arrays, reference)
    assert len(arrays["blocks"]) == 1 and n_cells > 20
    assert found >= lower - 1e-8 * (1 + abs(found))
    assert lower - 5.0 < found <= value + 1e-6


def test_cells_of_raised_prices_prove_to_the_checker_what_they_prove_to_the_search(raised_high):
    arrays, bounds, reference, lower, value = raised_high
    found, n_cells = blocks.bound(bounds, arrays, reference)
    assert len(arrays["blocks"]) == 1 and n_cells > 20
    assert found >= lower - 1e-8 * (1 + abs(found))
    assert lower - 5.0 < found <= value + 1e-6


def test_of_all_columns_and_of_sets_of_them_the_better_are_in_the_proof(monkeypatch):
    """Both are of one unit: prices of all columns once lost to sets that prove less."""
    for name, value in {"LOSS": 1.0, "MERGED": np.inf, "SLACK": 1e9, "HEIGHTS": raised.HEIGHTS[6:]}.items():
        monkeypatch.setattr(raised, name, value)
    problem, told = problem_of("spherical", 600, 4, 2), []

    def make(family, vector, value, records):
        first = RaisedBound(family, problem, vector, value + 50.0, record=records.of_all())
        while first.step(np.inf):
            pass
        told.append(first.lower)
        return CoverBound(family, vector, value, records=records)

    arrays, bounds, reference, lower, value = recorded(problem, make, 250)
    found, _ = blocks.bound(bounds, arrays, reference)
    best = max(lower, *told)
    assert told[0] > lower  # else this shows nothing
    assert found >= best - 1e-6 * (1 + abs(best)) and found <= value + 1e-6


def test_blocks_that_overlap_prove_it_too(covered):
    arrays, bounds, reference, lower, value = covered
    found, _ = blocks.bound(bounds, arrays, reference)
    assert len(arrays["blocks"]) > 2 and (arrays["blocks"] > 0).sum() > 4
    assert lower - 1e-8 * (1 + abs(found)) <= found <= value + 1e-6


def attack(recording, seed):
    """Change prices, split points, slopes and scales: what is not refused is below what a mixture attains."""
    rng = np.random.default_rng(seed)
    arrays, bounds, reference, _, value = recording
    for name in ("block_prices", "block_points", "block_slopes", "block_scales"):
        noise = rng.normal(size=arrays[name].shape)
        if name == "block_slopes":  # of spherical components all squares have one coefficient
            noise = np.where(arrays[name] != 0, noise[:, [0]], 0.0)
        noise = np.abs(noise) if rng.random() < 0.5 else noise
        changed = {**arrays, name: arrays[name] + rng.choice([1e-3, 0.1, 3.0]) * noise}
        found, _ = blocks.bound(bounds, changed, reference)
        assert found <= value + 1e-6


@pytest.mark.parametrize("seed", range(2))
def test_no_prices_cells_and_scales_of_groups_bound_mixtures_too_high(grouped, seed):
    attack(grouped, seed)


@pytest.mark.parametrize("seed", range(2))
def test_no_prices_cells_and_scales_of_blocks_bound_mixtures_too_high(covered, seed):
    attack(covered, seed)


@pytest.mark.parametrize("seed", range(2))
def test_no_prices_cells_and_scales_of_raised_prices_bound_mixtures_too_high(raised_high, seed):
    attack(raised_high, seed)


def test_blocks_of_too_much_weight_are_refused(covered):
    arrays, bounds, reference, _, _ = covered
    for change in (
        {"block_weights": arrays["block_weights"] * (1 + 1e-9)},
        {"block_weights": -arrays["block_weights"]},
        {"blocks": 3 * arrays["blocks"]},
        {"blocks": arrays["blocks"] + 1},
        {"blocks": 0 * arrays["blocks"]},
        {"block_sizes": arrays["block_sizes"] + 1},
        {"block_sizes": -arrays["block_sizes"]},
        {"block_prices": arrays["block_prices"][:, 1:]},
        {"block_slopes": arrays["block_slopes"][:, 1:]},
    ):
        with pytest.raises(ProofError, match="block"):
            blocks.bound(bounds, {**arrays, **change}, reference)


def test_a_block_without_some_of_its_cells_is_refused(grouped):
    arrays, bounds, reference, _, _ = grouped
    changed = {**arrays, "block_sizes": arrays["block_sizes"] - [0, 1]}
    changed |= {name: arrays[name][1:] for name in ("block_leaves", "block_slopes", "block_scales")}
    with pytest.raises(ProofError, match="nothing bounds what it saves"):
        blocks.bound(bounds, changed, reference)


def test_parts_of_blocks_are_of_free_variances_alone(grouped):
    arrays, bounds, reference, _, _ = grouped
    other = gopfast.GaussianMixture(bounds.columns, 3, covariance="known")
    for change in ({"block_weights": np.array([0.5])}, {"blocks": 2 * arrays["blocks"]}):
        with pytest.raises(ProofError, match="blocks: are of diag and spherical components"):
            blocks.bound(bounds_of(other), {**arrays, **change}, reference)
    prior = gopfast.GaussianMixture(bounds.columns, 3, covariance="known", prior=2.0, noise_variance=1.0)
    with pytest.raises(ProofError, match="blocks: are of components that share nothing, without a prior"):
        blocks.bound(bounds_of(prior), arrays, reference)


@pytest.mark.parametrize("copies", [1, 4])
def test_columns_beside_the_blocks_cost_what_their_floor_does(grouped, copies):
    """A block of less weight, the rest of it left to the least costs: exactly that much, of any mixture."""
    arrays, bounds, reference, _, value = grouped
    whole, _ = blocks.bound(bounds, arrays, reference)
    part, _ = blocks.bound(bounds, {**arrays, "block_weights": np.array([0.25])}, reference)
    least = 0.5 * np.log(2 * np.pi * bounds.problem.floor).sum() * bounds.weights.sum()
    assert part == pytest.approx(0.25 * whole + 0.75 * least, rel=1e-12)
    assert part < value
    changed = {**arrays, "blocks": copies * arrays["blocks"], "block_weights": np.array([1.0 / copies])}
    assert blocks.bound(bounds, changed, reference)[0] <= value + 1e-6


@pytest.fixture(scope="module")
def proved(tmp_path_factory):
    """A fit of more samples than prices are for, whose proof is that of its groups."""
    problem = problem_of("spherical", 1_500, 2, 3)
    path = tmp_path_factory.mktemp("blocks") / "proof"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gopfast.mixtures.mechanisms.MOST_PRICED", 1_000)
        patch.setattr("gopfast.mixtures.pricing.grouped.FEWEST", 1_000)
        result = gopfast.solve(problem, 5.0, proof=path, n_threads=1, max_nodes=400, log=False)
    return problem, path, result


def test_a_fit_of_many_samples_has_a_proof_by_groups(proved):
    problem, path, result = proved
    found = check(path, *proofs.arguments(problem), problem)
    header, arrays = file.read(path)
    assert result.success and result.gap <= 5.0
    assert len(arrays["blocks"]) == 1 and not arrays["prices"].size
    assert found.lower_bound == header["claim"]["lower_bound"] >= result.lower_bound
    assert found.n_leaves == len(arrays["block_leaves"])


@pytest.mark.parametrize("change", ["claim", "prices", "points", "slopes", "scales", "weights", "data", "no blocks"])
def test_a_changed_proof_by_groups_is_refused(proved, tmp_path, change):
    problem, path, _ = proved
    header, arrays = proofs.parts(path)
    X, weights = proofs.arguments(problem)
    bounds = bounds_of(problem)
    exact, _ = blocks.bound(bounds, arrays, np.array(header["reference"]))
    header["claim"]["lower_bound"] = exact - 1e-6  # all that is proved: any change proves less
    if change == "claim":
        header["claim"]["lower_bound"] = exact + 1e-3
    elif change == "prices":
        arrays["block_prices"][0, ::7] -= 1e-2
    elif change == "points":
        arrays["block_points"] *= 1.02
    elif change == "slopes":
        arrays["block_slopes"] *= 0.98
    elif change == "scales":
        arrays["block_scales"] += 0.3
    elif change == "weights":
        arrays["block_weights"] *= 0.999
    elif change == "data":
        X = X.copy()
        X[np.flatnonzero(weights)[0], 0] += 1e-3
    else:
        arrays.update({name: part[:0] for name, part in arrays.items() if name.startswith("block")})
    proofs.put(tmp_path / "p", header, arrays)
    with pytest.raises(ProofError, match="data" if change == "data" else "leaf|block"):
        check(tmp_path / "p", X, weights)


@pytest.mark.parametrize("less", [1e-12, 1e-3, 1.0])
def test_what_the_checker_finds_less_of_blocks_is_claimed_less(monkeypatch, less):
    """The tree's leaves, far below what blocks prove, cannot stand in for them (less: nats that it finds less)."""
    problem, told = problem_of("diag", 1_500, 4, 5, gap=4.0), []

    def floor(recorder, own=Recorder._floor):
        found, arrays = own(recorder)
        told.append((found - less, recorder.least))
        return found - less, arrays

    monkeypatch.setattr(Recorder, "_floor", floor)
    found = gopfast.solve(
        problem, relaxation="pricing", time_limit=60.0, proof=True, callback=lambda now: now.gap < 0.05 * now.upper
    )
    [(of_blocks, of_leaves)] = told
    assert of_leaves < 0.5 * of_blocks
    assert check(found.proof, *proofs.arguments(problem)).lower_bound == found.lower_bound
    assert found.lower_bound == pytest.approx(of_blocks, abs=0.1 * less + 1e-4)


@pytest.mark.parametrize("more", [0.0, 1.0])
def test_what_prices_do_not_show_is_not_claimed_where_blocks_show_less(monkeypatch, more):
    """The search has proved `more` nats than its prices show, and blocks next to nothing."""
    told = []

    def finish(recorder, wanted, solution, pricing, own=Recorder.finish):
        least, told[:] = recorder.least, [wanted]
        assert pricing is not None and least < wanted - 1.0
        return own(recorder, wanted + more, solution, pricing)

    monkeypatch.setattr(Recorder, "finish", finish)
    monkeypatch.setattr(Recorder, "_floor", lambda recorder: (-1e9, recorder.blocks.nothing()))
    problem = problem_of("diag", 300, 2, 4, gap=2.0)
    found = gopfast.solve(
        problem, relaxation="pricing", time_limit=60.0, proof=True, callback=lambda now: now.gap < 0.05 * now.upper
    )
    assert check(found.proof, *proofs.arguments(problem)).lower_bound == found.lower_bound
    assert found.lower_bound == pytest.approx(told[0], abs=0.01)
