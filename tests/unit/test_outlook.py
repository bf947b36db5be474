"""A search ends early where more time is of no use, and says so; never one that is short, or that moves."""

import dataclasses

import numpy as np
import pytest

import gopfast
from gopfast import outlook
from gopfast.outlook import Outlook
from gopfast.result import Status


def ended(gap, limit=60.0, step=0.25):
    """Seconds at which a search with this gap over time is ended; None if it is not."""
    watch = Outlook(limit)
    for seconds in np.arange(0.0, limit, step):
        if watch.update(seconds, gap(seconds)):
            return seconds, watch.verdict
    return None


def test_a_bound_that_does_not_move_ends_a_search_at_half_its_limit():
    assert ended(lambda t: 800.0) == (30.0, "ended after 30 of 60 s, as the bound does not move")


def test_the_pace_is_that_of_the_later_half_of_the_time():
    # from 20 to 10 in the first 2 s; then a factor of ten in 900 s
    seconds, verdict = ended(lambda t: 20.0 - 5.0 * t if t < 2.0 else 10.0 * 10.0 ** (-(t - 2.0) / 900.0))
    assert (seconds, verdict) == (30.0, "ended after 30 of 60 s, as a tenth of the gap would take 900 s")
    assert ended(lambda t: 10.0 ** (-t / 590.0)) is None
    assert ended(lambda t: 10.0 ** (-t / 610.0)) is not None


def test_what_comes_late_is_waited_for_while_there_are_few_reports():
    # reports every 9 s: prices that take long to be learnt
    assert ended(lambda t: 800.0, step=9.0) is None
    # no bound before 25 s: half of the time since then is not half of the limit, but what is known of the pace
    assert ended(lambda t: np.inf if t < 25.0 else 800.0)[0] == 30.0


def learnt_until(gap_of_learner, limit=60.0, step=0.25):
    """Seconds at which a search whose own gap stays is ended, beside a learner with this gap, None: it has ended."""
    watch = Outlook(limit)
    return next((t for t in np.arange(0.0, limit, step) if watch.update(t, 800.0, gap_of_learner(t))), None)


def test_what_is_learnt_has_time_for_its_first_bound_and_to_show_a_pace():
    # never one: three quarters of the limit since it began
    assert learnt_until(lambda t: None) == 30.0
    assert learnt_until(lambda t: np.inf) == 45.0
    assert learnt_until(lambda t: None if t < 10.0 else np.inf) == 55.0
    # one at 29 s, that of the search, that does not move: a tenth of the limit later
    assert learnt_until(lambda t: np.inf if t < 29.0 else 800.0) == 35.0
    # far wider than the search's: blocks of columns have their first bounds one after the other
    assert learnt_until(lambda t: np.inf if t < 29.0 else 1e6) == 45.0
    # a factor of ten in 20 s, from 29 s on; then it ends
    assert learnt_until(lambda t: np.inf if t < 29.0 else 1e6 * 10.0 ** ((29.0 - t) / 20.0)) is None
    assert learnt_until(lambda t: np.inf if t < 29.0 else 1e6 if t < 33.0 else None) == 33.0


def test_the_next_that_learns_begins_anew():
    """Handed over at 40 s, from a gap that does not move to one that is not known: the search goes on."""
    assert learnt_until(lambda t: 1e6 if t < 30.0 else np.inf) is None
    assert learnt_until(lambda t: 1e6 if t < 29.0 else 2e6) is None
    assert learnt_until(lambda t: 700.0 if t < 29.0 else 800.0) == 35.0


def test_a_gap_that_grows_with_a_better_bound_to_come_is_no_error():
    watch = Outlook(60.0)
    assert not any(watch.update(t, 5.0 + t) for t in np.arange(0.0, 30.0, 1.0))
    assert watch.update(30.0, 35.0)


@pytest.mark.parametrize("limit", [None, 0.0, 19.9, np.inf])
def test_short_and_absent_limits_end_nothing_early(limit):
    assert Outlook.of(limit) is None


def test_the_result_says_that_it_ended_early_and_keeps_its_bounds(monkeypatch):
    monkeypatch.setattr(outlook, "FIRST", 0.01)
    monkeypatch.setattr(outlook, "SHARE", 0.0005)  # as soon as there are reports enough
    monkeypatch.setattr(outlook, "PATIENCE", 0.0)  # nothing is fast enough
    X = np.random.default_rng(0).standard_normal((200, 3))
    problem = gopfast.GaussianMixture(X, 4, covariance="diag")
    result = gopfast.solve(problem, time_limit=60.0, log=False)
    assert result.status is Status.TIME_LIMIT and result.time < 60.0
    assert str(result).startswith("TIME_LIMIT: ended after ")
    assert result.lower_bound <= result.objective == pytest.approx(problem.objective(
        result.solution.weights, **result.solution.parameters
    ))  # fmt: skip
    again = gopfast.Result.from_json(result.to_dict(), problem)
    assert (again.stopped, again.message) == (result.stopped, result.message)
    tight = dataclasses.replace(result, lower_bound=result.objective - 1e-3, message="")
    assert tight.message.startswith(f"{result.stopped}, but it is proved that no mixture of 4 components")


def test_a_callback_and_ctrl_c_are_told_as_before():
    X = np.random.default_rng(0).standard_normal((200, 3))
    problem = gopfast.GaussianMixture(X, 4, covariance="diag")
    result = gopfast.solve(problem, time_limit=40.0, log=False, callback=lambda state: state.n_nodes > 50)
    assert result.status is Status.INTERRUPTED and result.stopped == ""
