import io

import pytest

from gopfast.report import Progress, ProgressLog, format_row


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
