"""Ctrl-C from the first line of a solve to its last: a result with its bounds, wherever it comes."""

import math
import os
import signal
import sys
import threading
import weakref

import numpy as np
import pytest
from gopfast.search.stop import StopSignal

import gopfast
from gopfast import GaussianMixture
from gopfast.biconvex.preparation import Preparation
from gopfast.clustering import solve as of_clusters
from gopfast.data import LargeGaussianMixture, chunks
from gopfast.mixtures import engine, shared_coefficients, shared_proof, solve as of_mixtures
from gopfast.mixtures.plan import MixturePlan
from gopfast.mixtures.pricing.pricing_root import PricingBound
from gopfast.result import Status
from gopfast.search import interrupts
from gopfast.search.checkpoint import Stored
from gopfast.search.session import Session

RNG = np.random.default_rng(0)
X = np.concatenate([RNG.normal(size=(30, 2)), RNG.normal(size=(30, 2)) + 4.0])
Z = RNG.normal(size=30)
Y = np.where(np.arange(30) < 15, 2.0 * Z + 3.0, -Z) + 0.2 * RNG.normal(size=30)
Q = RNG.normal(size=(6, 6))
QUIET = {"log": False, "n_threads": 1}


class Thing:
    pass


def press():
    signal.raise_signal(signal.SIGINT)


def pressing(function, times=1, after=False):
    """The same function, but at its first call Ctrl-C is pressed so often, before or after its work."""
    calls = []

    def pressed(*given, **named):
        calls.append(given)
        found = function(*given, **named) if after else None
        for _ in range(times if len(calls) == 1 else 0):
            press()
        return found if after else function(*given, **named)

    pressed.calls = calls
    return pressed


def mixture():
    return GaussianMixture(X, 2, covariance="diag")


def regression():
    return gopfast.RegressionMixture(np.column_stack([Z, Z * Z])[::3], Y[::3], 2, shared_coefficients=[1])


def bilinear():
    return gopfast.BiconvexProblem(Q[0], Q=Q @ np.diag([1, -1, 1, -1, 1, 1]) @ Q.T, lower=-1, upper=1)


def clusters():
    return gopfast.KMeans(X, 3)


def lines():
    return gopfast.ClusterwiseRegression(Z[:, None], Y, 2)


TOLERANCE = {regression: 1.0}
PLACES = [
    (mixture, engine, "family"), (mixture, engine, "start_solution"), (mixture, MixturePlan, "__init__"),
    (mixture, MixturePlan, "least"), (mixture, of_mixtures.Search, "resume"), (mixture, of_mixtures, "unpack"),
    (mixture, Session, "end"),
    (regression, shared_coefficients.SharedCoefficientSearch, "_begin"),
    (regression, shared_coefficients.SharedCoefficientSearch, "_open"),
    (bilinear, Preparation, "__init__"), (bilinear, Preparation, "tighten"), (bilinear, Preparation, "run"),
    (clusters, of_clusters.Search, "prepare"), (clusters, of_clusters.Search, "begin"),
    (lines, of_clusters.Search, "run"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "owner", "name"), PLACES, ids=lambda value: getattr(value, "__name__", value))
def test_wherever_it_comes_the_result_has_bounds(make, owner, name, monkeypatch):
    problem, whole = make(), gopfast.solve(make(), TOLERANCE.get(make), **QUIET)
    if owner is of_mixtures.Search:  # compiled
        pressed = pressing(of_mixtures.MixtureSearch._beside_the_tree, after=True)
        monkeypatch.setattr(of_mixtures.MixtureSearch, "_beside_the_tree", pressed)
    else:
        pressed = pressing(getattr(owner, name))
        monkeypatch.setattr(owner, name, pressed)
    result = gopfast.solve(problem, TOLERANCE.get(make), **QUIET)
    assert pressed.calls
    least = -math.inf if make is bilinear else whole.lower_bound * (1.0 - 1e-9)
    late = name in ("unpack", "end")  # it had ended
    assert result.status is (whole.status if late else Status.INTERRUPTED)
    bound = result.bound if make is bilinear else result.lower_bound
    assert bound <= whole.objective + 1e-9 * abs(whole.objective) and result.objective >= least
    assert make is bilinear or math.isfinite(result.objective)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_what_was_stopped_before_its_nodes_goes_on_from_its_checkpoint(tmp_path, monkeypatch):
    whole, path = gopfast.solve(mixture(), **QUIET), tmp_path / "checkpoint"
    with monkeypatch.context() as patch:
        patch.setattr(MixturePlan, "least", pressing(MixturePlan.least))
        assert gopfast.solve(mixture(), checkpoint=path, **QUIET).status is Status.INTERRUPTED
    assert not Stored(str(path)).begun
    again = gopfast.resume(path, X, **QUIET)
    assert (again.n_nodes, again.lower_bound) == (whole.n_nodes, whole.lower_bound)


@pytest.mark.parametrize(("owner", "name"), [
    (of_mixtures.MixtureSearch, "__init__"), (of_mixtures.MixtureSearch, "restore"), (Stored, "restore"),
])  # fmt: skip
def test_while_a_checkpoint_is_restored_it_leaves_the_bounds_of_the_file(owner, name, tmp_path, monkeypatch):
    path = tmp_path / "checkpoint"
    before = gopfast.solve(mixture(), max_nodes=30, checkpoint=path, **QUIET)
    with monkeypatch.context() as patch:
        pressed = pressing(getattr(owner, name))
        patch.setattr(owner, name, pressed)
        result = gopfast.resume(path, X, **QUIET)
    assert pressed.calls and result.status is Status.INTERRUPTED
    assert (result.lower_bound, result.objective) == (before.lower_bound, before.objective)
    again, whole = gopfast.resume(path, X, **QUIET), gopfast.solve(mixture(), **QUIET)
    assert again.success and abs(again.objective - whole.objective) <= 0.01


def test_while_prices_are_made_again_it_is_raised_and_the_file_stays(tmp_path, monkeypatch):
    path, problem = tmp_path / "checkpoint", GaussianMixture(X, 2, covariance="known")
    options = {"relaxation": "pricing", "checkpoint": path, "checkpoint_every": 1e-9, **QUIET}
    gopfast.solve(problem, 1e-6, callback=lambda state: state.n_nodes > 2, **options)
    kept = path.read_bytes()
    assert b"learning_log" in kept
    pressed = pressing(PricingBound.step)
    monkeypatch.setattr(PricingBound, "step", pressed)
    with pytest.raises(KeyboardInterrupt):
        gopfast.resume(path, problem, **QUIET)
    assert pressed.calls and path.read_bytes() == kept


def test_a_second_one_is_raised_at_once(monkeypatch):
    after = []
    pressed = pressing(MixturePlan.least, times=2)
    monkeypatch.setattr(MixturePlan, "least", pressed)
    monkeypatch.setattr(of_mixtures.MixtureSearch, "run", lambda *_: after.append(1))
    with pytest.raises(KeyboardInterrupt):
        gopfast.solve(mixture(), **QUIET)
    assert pressed.calls and not after
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_one_soon_after_ends_whichever_solve_it_comes_in(monkeypatch):
    """A program of many short solves: each Ctrl-C ends one of them."""
    for _ in range(2):
        with monkeypatch.context() as patch:
            patch.setattr(engine, "family", pressing(engine.family))
            assert gopfast.solve(mixture(), **QUIET).status is Status.INTERRUPTED
        interrupts.last -= 2.0 * interrupts.AGAIN
    interrupts.last += 2.0 * interrupts.AGAIN
    monkeypatch.setattr(engine, "family", pressing(engine.family))
    with pytest.raises(KeyboardInterrupt):
        gopfast.solve(mixture(), **QUIET)


def test_it_is_not_lost_in_a_callback_that_cannot_raise(monkeypatch, capsys):
    """Where what is raised is printed and forgotten: of weak references and finalizers."""
    def plan(self, *given, **named):
        thing = Thing()
        reference = weakref.ref(thing, lambda _: press())
        del thing
        assert reference() is None
        return make(self, *given, **named)

    make = MixturePlan.__init__
    monkeypatch.setattr(MixturePlan, "__init__", plan)
    assert gopfast.solve(mixture(), **QUIET).status is Status.INTERRUPTED
    assert capsys.readouterr().err == ""


def test_a_second_one_that_was_lost_is_raised_at_the_end(monkeypatch):
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    with pytest.raises(KeyboardInterrupt), interrupts.noted():
        press()
        thing = Thing()
        reference = weakref.ref(thing, lambda _: press())
        del thing
        assert reference() is None


def test_stop_signals_look_from_their_first_moment_on():
    assert not StopSignal().stopped
    with interrupts.noted():
        before = StopSignal()
        press()
        assert before.stopped == Status.INTERRUPTED and StopSignal().stopped == Status.INTERRUPTED
        with interrupts.raised():
            assert not StopSignal().stopped  # what is made then is to be finished
        assert StopSignal().stopped
    assert not StopSignal().stopped


def test_within_a_part_that_may_be_left_it_is_raised():
    with interrupts.noted():
        with pytest.raises(KeyboardInterrupt), interrupts.raised():
            press()
        assert interrupts.asked()
        with pytest.raises(KeyboardInterrupt):
            interrupts.check()


def test_what_cannot_be_closed_then_hides_nothing():
    with interrupts.noted():
        with pytest.raises(KeyboardInterrupt), interrupts.raised():
            try:
                press()
            finally:
                raise ValueError("half written")
    with pytest.raises(ValueError, match="own"), interrupts.noted(), interrupts.raised():
        raise ValueError("own")


def test_a_solve_within_a_solve_notes_too():
    with interrupts.noted(), interrupts.raised():
        with interrupts.noted():
            press()
            assert interrupts.asked()
        assert interrupts.asked()


def test_handlers_of_the_program_are_left_alone(monkeypatch):
    heard = []

    def own(*_):
        heard.append(1)

    before = signal.signal(signal.SIGINT, own)
    try:
        monkeypatch.setattr(engine, "family", pressing(engine.family))
        assert gopfast.solve(mixture(), **QUIET).success
        assert heard and signal.getsignal(signal.SIGINT) is own
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_handler_that_is_set_meanwhile_stays():
    before = signal.getsignal(signal.SIGINT)
    try:
        with interrupts.noted():
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            assert not interrupts.asked()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_hear_nothing():
    found = []

    def solve():
        found.append((interrupts.asked(), gopfast.solve(mixture(), **QUIET).success))

    with interrupts.noted():
        press()
        thread = threading.Thread(target=solve)
        thread.start()
        thread.join()
    assert found == [(False, True)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_worker_that_was_forked_raises_it():
    with interrupts.noted():
        press()
        child = os.fork()
        if child == 0:
            code = 2
            try:
                code = 3 if interrupts.asked() else 4
                press()
            except KeyboardInterrupt:
                code += 40
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 44


def test_sigterm_before_the_nodes_is_noted_however_often(tmp_path, monkeypatch):
    begin = of_clusters.Search.begin

    def terminated(self):
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGTERM)
        return begin(self)

    monkeypatch.setattr(of_clusters.Search, "begin", terminated)
    path = tmp_path / "checkpoint"
    result = gopfast.solve(clusters(), checkpoint=path, **QUIET)
    assert result.status is Status.INTERRUPTED and not Stored(str(path)).begun


def test_a_summary_of_chunks_has_no_result_without_an_end(monkeypatch):
    problem = LargeGaussianMixture(chunks(lambda: np.array_split(X, 4), 2), 2, covariance="diag")
    monkeypatch.setattr(LargeGaussianMixture, "_check_range", pressing(LargeGaussianMixture._check_range))
    with pytest.raises(KeyboardInterrupt):
        gopfast.solve(problem, **QUIET)


def test_the_proof_of_a_shared_coefficient_is_left_and_the_result_kept(monkeypatch):
    monkeypatch.setattr(shared_proof._Writer, "_proof", pressing(shared_proof._Writer._proof))
    result = gopfast.solve(regression(), 1.0, proof=True, max_nodes=1000, **QUIET)
    assert result.lower_bound <= result.objective and result.proof is None
    assert any("no proof was written: Ctrl-C" in note for note in result.notes)
