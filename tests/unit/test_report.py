import io
import multiprocessing
import sys
import threading
import time

import numpy as np
import pytest
from support import datasets

import gopfast
from gopfast import report
from gopfast.report import Heartbeat, Progress, ProgressLog, format_row


def state(time, n_nodes=1, upper=5.0, new_incumbent=False):
    return Progress(time, n_nodes, 3, 1.0, upper, upper - 1.0, new_incumbent)


def lines_of(*updates):
    stream = io.StringIO()
    log = ProgressLog(stream)
    for update, final in updates:
        log.update(update, final=final)
    return stream.getvalue().splitlines()


def test_header_comes_once_and_columns_line_up():
    header, first, second = lines_of((state(0.0, 1), False), (state(10.0, 123456), False))
    assert header.split() == ["nodes", "open", "lower", "upper", "gap", "time"]
    assert len(header) == len(first) == len(second)


def test_incumbents_are_marked_and_never_left_out():
    updates = [(state(1e-6 * i, i, upper=100.0 - i, new_incumbent=True), False) for i in range(50)]
    rows = lines_of(*updates)[1:]
    assert len(rows) == 50
    assert all(row.startswith("*") for row in rows)
    assert format_row(state(0.0)).startswith(" ")


def test_other_rows_come_at_growing_intervals():
    updates = [(state(0.01 * i, i), False) for i in range(100_000)]
    rows = lines_of(*updates)[1:]
    times = [float(row.split()[-1].rstrip("s")) for row in rows]
    intervals = [later - earlier for earlier, later in zip(times, times[1:], strict=False)]
    assert 20 < len(rows) < 60
    assert intervals[0] < 1.0 < 100.0 < intervals[-1]


def test_final_state_is_printed_once_with_a_summary():
    end = state(0.0011, 9)
    rows = lines_of((state(0.001, 8), False), (end, True))
    assert rows[2] == format_row(end)
    assert rows[3] == "9 nodes in 0.00 s: 1 <= global optimum <= 5, gap 4"
    assert len(lines_of((state(0.001, 9), False), (end, True))) == 3


@pytest.mark.parametrize("extreme", [float("inf"), 1e300, -1.23456789e-300])
def test_extreme_values_keep_their_columns(extreme):
    assert len(format_row(state(0.0, upper=extreme))) == len(ProgressLog.HEADER)


def test_default_stream_is_the_current_standard_output(capsys):
    ProgressLog().update(state(0.0))
    assert "nodes" in capsys.readouterr().out


def test_stream_needs_only_write():
    class Writer:
        text = ""

        def write(self, text):
            self.text += text

    writer = Writer()
    ProgressLog(writer).update(state(0.0), final=True)
    assert writer.text.count("\n") == 3


# The sign of life of a search without a log


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


def beats(seconds, **options):
    """Lines of a heartbeat that is updated at these seconds after its beginning."""
    clock, stream = Clock(), io.StringIO()
    heartbeat = Heartbeat(stream, clock=clock, **options)
    for second in seconds:
        clock.now = 100.0 + second
        heartbeat.update(state(second, int(1000 * second)))
    return stream.getvalue().splitlines()


def test_a_search_is_silent_for_five_seconds_and_then_says_how_far_it_is():
    assert beats(np.arange(0.0, 5.0, 0.01)) == []
    (line,) = beats([4.99, 5.0])
    assert line == (
        "gopfast: 5 s, 5,000 nodes, 1 <= global optimum <= 5, gap 4; time_limit= or Ctrl-C ends it with its bounds, "
        "log=True prints a table, log=False nothing"
    )


def test_later_lines_come_whenever_the_time_has_doubled():
    lines = beats(np.arange(0.0, 4000.0, 0.5))
    assert [int(line.split()[1]) for line in lines] == [5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560]
    assert not any("log=True" in line for line in lines[1:])
    # After a long batch no line is made up for.
    assert [line.split()[1] for line in beats([4.0, 75.0, 79.0, 81.0])] == ["75", "81"]


def test_lines_can_come_at_equal_intervals_with_a_hint_of_the_callers():
    lines = beats(np.arange(0.0, 20.0, 0.5), every=4.0, hint="be patient")
    assert [int(line.split()[1]) for line in lines] == [4, 8, 12, 16]
    assert lines[0].endswith("gap 4; be patient")
    assert not any("be patient" in line for line in lines[1:])


def test_the_end_is_not_a_sign_of_life():
    clock, stream = Clock(), io.StringIO()
    heartbeat = Heartbeat(stream, clock=clock)
    clock.now += 1000.0
    heartbeat.update(state(1000.0), final=True)
    assert stream.getvalue() == ""


def test_one_of_several_searches_says_so():
    assert beats([11.0], what="one of 3 searches: ")[0].startswith("gopfast: 11 s, one of 3 searches: 11,000 nodes,")


class Closed(io.StringIO):
    def write(self, text):
        raise BrokenPipeError


@pytest.mark.parametrize("stream", [None, Closed(), object()], ids=["absent", "closed", "no stream"])
def test_a_stream_that_fails_does_not_end_the_search(monkeypatch, stream):
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(Heartbeat, "FIRST", 1e-9)
    assert gopfast.solve(gopfast.GaussianMixture([0.0, 1.0, 9.0], 2, covariance="known")).success


PROBLEMS = {
    "mixture": lambda: gopfast.GaussianMixture(datasets.galaxies(), 4, covariance="known"),
    "one component": lambda: gopfast.GaussianMixture([0.0, 1.0], 1, covariance="known"),
    "biconvex": lambda: gopfast.BiconvexProblem(
        [-1, -1], Q=[[0, 1], [0, 0]], A=[[-6, 8], [3, -1]], row_upper=3, lower=0, upper=5
    ),
}


def work_of(result):
    """Return what the mechanisms did, without their seconds; None of a problem that has none."""
    profile = result.to_dict().get("profile")
    return profile and {
        name: {count: value for count, value in row.items() if count != "seconds"} for name, row in profile.items()
    }


@pytest.mark.parametrize("kind", PROBLEMS)
@pytest.mark.parametrize("n_threads", [1, 2])
def test_signs_of_life_change_no_result(monkeypatch, capsys, kind, n_threads):
    quiet = gopfast.solve(PROBLEMS[kind](), log=False, n_threads=1)
    assert capsys.readouterr() == ("", "")
    assert gopfast.solve(PROBLEMS[kind](), n_threads=n_threads).to_dict().keys()
    assert capsys.readouterr() == ("", "")  # far less than ten seconds
    monkeypatch.setattr(Heartbeat, "FIRST", 1e-9)
    loud = gopfast.solve(PROBLEMS[kind](), n_threads=n_threads)
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("gopfast: 0 s, ")
    records = [
        {name: value for name, value in result.to_dict().items() if name not in ("time", "history", "profile")}
        for result in (quiet, loud)
    ]
    assert records[0] == records[1]
    assert work_of(quiet) == work_of(loud)
    assert [row[1:] for row in quiet.history.tolist()] == [row[1:] for row in loud.history.tolist()]


def test_a_table_has_no_sign_of_life_beside_it(monkeypatch, capsys):
    monkeypatch.setattr(Heartbeat, "FIRST", 1e-9)
    stream = io.StringIO()
    for log in (False, True, stream):
        gopfast.solve(PROBLEMS["mixture"](), log=log)
    assert capsys.readouterr().err == ""
    assert "nodes" in stream.getvalue() and "gopfast:" not in stream.getvalue()


def test_before_the_first_report_a_thread_says_that_the_search_is_alive():
    stream = io.StringIO()
    heartbeat = Heartbeat(stream)
    heartbeat._next = 0.01
    printed = threading.Event()
    stream.flush = printed.set
    with heartbeat.watching():
        assert printed.wait(30.0)
    assert "s, local search, no bound yet; time_limit= or Ctrl-C" in stream.getvalue()
    n_lines = stream.getvalue().count("\n")
    heartbeat._next = 1e-3
    assert not [thread for thread in threading.enumerate() if thread.name == "gopfast heartbeat" and thread.join(5.0)]
    assert stream.getvalue().count("\n") == n_lines


def test_a_large_mixture_is_watched_from_its_first_local_search(monkeypatch, capsys):
    watched = []
    monkeypatch.setattr(Heartbeat, "watching", lambda self: watched.append(self) or threading.Lock())
    gopfast.solve(PROBLEMS["mixture"]())
    assert watched == []
    gopfast.solve(gopfast.GaussianMixture(np.zeros((100_000, 5)), 2, covariance="known"), time_limit=0)
    gopfast.solve(PROBLEMS["biconvex"]())
    assert len(watched) == 2


def test_the_choice_of_a_number_of_components_has_one_sign_of_life(monkeypatch, capsys):
    arguments = (datasets.galaxies(), range(1, 5))
    options = {"covariance": "diag", "variance_floor": 0.09}
    gopfast.select(*arguments, **options, log=False)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(Heartbeat, "FIRST", 1e-9)
    gopfast.select(*arguments, **options)
    out, err = capsys.readouterr()
    assert out == "" and err.count("log=True") == 1
    assert all(line.split(" s, ")[1].startswith("one of 4 searches: ") for line in err.splitlines())


def test_a_logger_takes_the_table(caplog):
    import logging

    logger = logging.getLogger("gopfast.test")
    with caplog.at_level(logging.INFO, logger="gopfast.test"):
        gopfast.solve(gopfast.GaussianMixture([-10, -10, 5, 25], 2, prior="empirical"), log=logger)
    lines = [record.getMessage() for record in caplog.records]
    assert "nodes" in lines[0] and "global optimum" in lines[-1] and not any(line.endswith("\n") for line in lines)


def test_a_bar_shows_the_bounds(capsys, monkeypatch):
    """Whatever tqdm is: a stand-in that keeps what it is told."""
    import sys
    import types

    told = []

    class Bar:
        def __init__(self, **options):
            self.n, self.closed = 0, False

        def update(self, more):
            self.n += more
            told.append(self.n)

        def set_postfix_str(self, text, refresh):
            told.append(text)

        def close(self):
            told.append("closed")

    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", types.SimpleNamespace(tqdm=Bar))
    result = gopfast.solve(gopfast.GaussianMixture([-10, -10, 5, 25], 2, prior="empirical"), log="bar")
    assert told[-1] == "closed" and told[-2] == result.n_nodes and "gap" in told[0]
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match="progress"):
        gopfast.solve(gopfast.GaussianMixture([-10, -10, 5, 25], 2, prior="empirical"), log="bar")
    with pytest.raises(gopfast.InputError, match="log"):
        gopfast.solve(gopfast.GaussianMixture([-10, -10, 5, 25], 2, prior="empirical"), log="beam")


def test_tasks_are_counted_on_a_bar_where_there_is_one(monkeypatch, capsys):
    import sys

    from gopfast.report import Tally

    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with Tally(3, "tasks", True) as tally:
        for one in range(3):
            tally.count(one)
    assert "1 of 3 tasks" in capsys.readouterr().err


def test_searches_one_after_another_share_a_thread(monkeypatch):
    started = []
    start = threading.Thread.start
    monkeypatch.setattr(threading.Thread, "start", lambda self: started.append(self.name) or start(self))
    monkeypatch.setattr(report, "_WATCH", report._Watch())
    with Heartbeat(io.StringIO()).watching():
        while not report._WATCH._wakes:  # a thread that finds nothing to wait for ends
            time.sleep(0.001)
    for _ in range(20):
        with Heartbeat(io.StringIO()).watching():
            pass
    assert started == ["gopfast heartbeat"]


def test_a_line_that_is_due_earlier_wakes_the_shared_thread(monkeypatch):
    monkeypatch.setattr(report, "_WATCH", report._Watch())
    late, early = Heartbeat(io.StringIO()), Heartbeat(stream := io.StringIO())
    late._next, early._next = 1e4, 0.01
    printed = threading.Event()
    stream.flush = printed.set
    with late.watching(), early.watching():
        assert printed.wait(30.0)


def test_a_forked_child_has_a_thread_of_its_own():
    context = multiprocessing.get_context("fork")
    with Heartbeat(io.StringIO()).watching():
        child = context.Process(target=_watch_in_a_child)
        child.start()
        child.join(60.0)
    assert child.exitcode == 0


def _watch_in_a_child():
    heartbeat = Heartbeat(stream := io.StringIO())
    heartbeat._next = 0.01
    printed = threading.Event()
    stream.flush = printed.set
    with heartbeat.watching():
        sys.exit(0 if printed.wait(30.0) else 1)
