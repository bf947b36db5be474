"""The CSV reader: what it reads, and where it says that a file is wrong."""

import numpy as np
import pytest

from gopfast import _table
from gopfast.errors import InputError

DATA = [[1.5, -2.0], [3.0, 4e1]]


@pytest.fixture
def write(tmp_path):
    def write(text, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1.5,-2\n3,4e1\n",
        "a,b\r\n1.5,-2\r\n3,4e1\r\n\r\n",
        "a,b\r1.5,-2\r3,4e1",
        "a;b\n1.5;-2\n3;4e1",
        "a\tb\n1.5\t-2\n3\t4e1",
        '"a","b"\n"1.5","-2"\n"3","4e1"\n',
        " a , b \n 1.5 , -2 \n 3 , 4e1 \n\n\n",
        b"\xef\xbb\xbfa,b\n1.5,-2\n3,4e1",
    ],
    ids=range(8),
)
def test_files_with_a_header(write, text):
    table = _table.read(write(text))
    np.testing.assert_array_equal(table.data, DATA)
    assert table.columns == ("a", "b")


def test_a_file_without_a_header(write):
    table = _table.read(write("1.5,-2\n3,40\n"))
    np.testing.assert_array_equal(table.data, DATA)
    assert table.columns == ("1", "2")
    np.testing.assert_array_equal(_table.read(write("1.5,-2\n3,40\n"), ["2"]).data, np.array(DATA)[:, 1:])


@pytest.mark.parametrize("quote", ["", '"'])
def test_columns_are_chosen_by_name_or_place_in_the_order_asked_for(write, quote):
    path = write(f"name,x,y\n{quote}one{quote},1,2\n{quote}two{quote},3,4\n")
    np.testing.assert_array_equal(_table.read(path, ["y", "x"]).data, [[2, 1], [4, 3]])
    table = _table.read(path, ["3"])
    assert table.columns == ("y",)
    np.testing.assert_array_equal(table.data, [[2], [4]])


def test_a_name_that_is_a_number_comes_before_a_place(write):
    assert _table.read(write("id,1\n7,8\n"), ["1"]).data.item() == 8


def test_fast_and_slow_paths_agree_to_the_last_bit(write):
    numbers = np.random.default_rng(0).standard_normal(200) * 10.0 ** np.arange(-100, 100)
    lines = [repr(float(number)) for number in numbers]
    fast = _table.read(write("x\n" + "\n".join(lines)))
    slow = _table.read(write("x\n" + "\n".join(f'"{line}"' for line in lines)))
    np.testing.assert_array_equal(fast.data[:, 0], numbers)
    np.testing.assert_array_equal(slow.data[:, 0], numbers)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("\n\n", "the file is empty"),
        ("a,b\n", "no data"),
        ("a,b\n1,2\n3,\n", "line 3, column 'b': the value is missing"),
        ("a,b\n1,2\n3,NA\n", "line 3, column 'b': the value is missing"),
        ("a,b\nnan,2\n", "line 2, column 'a': the value is missing"),
        ("1,2\n3,?\n", "line 2, column '2': the value is missing"),
        ("a,b\n1,2\n3,inf\n", "line 3, column 'b': 'inf' is not finite"),
        ("a,b\n1,2\n3,x4\n", "line 3, column 'b': 'x4' is not a number; choose"),
        ("a,b\n1,2\n3,1_000\n", "line 3, column 'b': '1_000' is not a number"),
        ("name,b\none,2\n", "line 2, column 'name': 'one' is not a number; choose columns of numbers with --columns"),
        ("a,b\n1,2\n3\n", "line 3: 1 fields where the first line has 2"),
        ("a,b\n1,2\n3,4,5\n", "line 3: 3 fields where the first line has 2"),
        ("a\n1\n\n3\n", "line 3: empty line"),
        ("\n1\n", "line 1 is empty"),
        ('a,b\n"1\n2",3\n', "line 3, column 'a'"),
        (b"\xff\xfe\x00", "UTF-8"),
        (b"a\n1\n2\x00\n", "line 3"),
    ],
    ids=repr,
)
def test_a_wrong_file_is_told_by_name_and_line(write, text, message):
    path = write(text)
    with pytest.raises(InputError) as caught:
        _table.read(path)
    assert str(caught.value).startswith(str(path))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["z"], "there is no column 'z'; its columns are a, b, b"),
        (["4"], "there is no column '4'"),
        (["0"], "there is no column '0'"),
        (["b"], "several columns are called 'b'"),
        (["a", "1"], "twice"),
        ([""], "there is no column ''"),
    ],
)
def test_wrong_columns_are_told(write, columns, message):
    with pytest.raises(InputError, match=message):
        _table.read(write("a,b,b\n1,2,3\n"), columns)


def test_files_that_cannot_be_read(tmp_path):
    for path in (tmp_path / "none.csv", tmp_path):
        with pytest.raises(InputError, match=str(path)):
            _table.read(path)


def test_a_million_rows_take_the_fast_path(write, monkeypatch):
    monkeypatch.setattr(_table, "_parsed_slowly", None)
    numbers = np.arange(1_000_000) % 977 / 8.0
    path = write("x\n" + "\n".join(map(str, numbers.tolist())))
    np.testing.assert_array_equal(_table.read(path).data[:, 0], numbers)
