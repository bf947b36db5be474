"""The CSV reader: what it reads, and where it says that a file is wrong."""

import io
import re
import sys

import numpy as np
import pytest

from gopfast.errors import InputError
from gopfast.reading.table import read

DATA = [[1.5, -2.0], [3.0, 4e1]]


@pytest.fixture
def write(tmp_path):
    def write(text, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def assert_refused(path, message):
    """Reading fails with the file's name first and this in the message."""
    with pytest.raises(InputError) as caught:
        read(path)
    assert str(caught.value).startswith(str(path))
    assert message in str(caught.value)


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
    table = read(write(text))
    np.testing.assert_array_equal(table.data, DATA)
    assert table.columns == ("a", "b")


def test_a_file_without_a_header(write):
    table = read(write("1.5,-2\n3,40\n"))
    np.testing.assert_array_equal(table.data, DATA)
    assert table.columns == ("1", "2")
    np.testing.assert_array_equal(read(write("1.5,-2\n3,40\n"), ["2"]).data, np.array(DATA)[:, 1:])


@pytest.mark.parametrize("quote", ["", '"'])
def test_columns_are_chosen_by_name_or_place_in_the_order_asked_for(write, quote):
    path = write(f"name,x,y\n{quote}one{quote},1,2\n{quote}two{quote},3,4\n")
    np.testing.assert_array_equal(read(path, ["y", "x"]).data, [[2, 1], [4, 3]])
    table = read(path, ["3"])
    assert table.columns == ("y",)
    np.testing.assert_array_equal(table.data, [[2], [4]])


def test_a_name_that_is_a_number_comes_before_a_place(write):
    assert read(write("id,1\n7,8\n"), ["1"], header=True).data.item() == 8


def test_plain_quoted_and_incomplete_columns_agree_to_the_last_bit(write):
    numbers = np.random.default_rng(0).standard_normal(200) * 10.0 ** np.arange(-100, 100)
    lines = [repr(float(number)) for number in numbers]
    fast = read(write("x\n" + "\n".join(lines)))
    slow = read(write("x\n" + "\n".join(f'"{line}"' for line in lines)))
    np.testing.assert_array_equal(fast.data[:, 0], numbers)
    np.testing.assert_array_equal(slow.data[:, 0], numbers)
    with_gaps = read(write("x\n" + "\nNA\n".join(lines)), na="drop")
    np.testing.assert_array_equal(with_gaps.data[:, 0], numbers)


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
        ("a,b\n1,2\n3,x4\n", "line 3, column 'b': 'x4' is not a number; correct it, or choose columns of numbers: "
         "--columns a"),
        ("a,b\n1,2\n3,1_000\n", "line 3, column 'b': '1_000' is not a number"),
        ("name,b\none,2\n", "line 2, column 'name': 'one' is not a number; correct it, or choose columns of numbers: "
         "--columns b"),
        ("a,b\n1,2\n3\n", "line 3: 1 field where line 1 has 2"),
        ("a,b\n1,2\n3,4,5\n", "line 3: 3 fields where line 1 has 2"),
        ("a\n1\n\n3\n", "line 3: empty, so that a value is missing"),
        ('a,b\n"1\n2",3\n', "line 2, column 'a': '1\\n2' is not a number"),
        (b"\xff\xfe\x00", "not a text file in UTF-16"),
        (b"a\n1\n2\x00\n", "line 3"),
    ],
    ids=repr,
)
def test_a_wrong_file_is_told_by_name_and_line(write, text, message):
    assert_refused(write(text), message)


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
        read(write("a,b,b\n1,2,3\n"), columns)


def test_files_that_cannot_be_read(tmp_path):
    for path in (tmp_path / "none.csv", tmp_path):
        with pytest.raises(InputError, match=str(path)):
            read(path)


def test_a_million_rows(write):
    numbers = np.arange(1_000_000) % 977 / 8.0
    path = write("x\n" + "\n".join(map(str, numbers.tolist())))
    np.testing.assert_array_equal(read(path).data[:, 0], numbers)


@pytest.mark.parametrize(
    ("text", "columns", "data"),
    [
        ("a,b\n101,1,4.5\n102,2,5\n", "ab", [[1, 4.5], [2, 5]]),  # the first field would else be column a
        ('"a" "b"\n"New York" 1 4.5\n"LA" 2 5\n', "ab", [[1, 4.5], [2, 5]]),
        ('"","a","b"\n"1",1,4.5\n"2",2,5\n', "ab", [[1, 4.5], [2, 5]]),
        (",0,1\n0,1,4.5\n1,2,5\n", "01", [[1, 4.5], [2, 5]]),
        ('"x"\n"1",4\n"2",5\n', "x", [[4], [5]]),
        ("x\na,4\nb,5\n", "x", [[4], [5]]),
        ("a|b\n1|2\n", "ab", [[1, 2]]),
        (" 1   2\n-1\t 3\n", "12", [[1, 2], [-1, 3]]),
        ("# made by: hand, 2 columns\na,b\n1,2\n# half\n3,4\n\n\n", "ab", [[1, 2], [3, 4]]),
        ("#,n,x\n1,a,3\n2,b,4\n", "x", [[3], [4]]),  # no comment: the name of the first column
        ("\n\na,b\n1,2\n\n3,4\n", "ab", [[1, 2], [3, 4]]),
        ("\n1\n2\n", "1", [[1], [2]]),
        ("a,b,\n1,2,\n3,4,\n", "ab", [[1, 2], [3, 4]]),
        ('x,n\n1,"a\n# b, c\n\nd"\n2,e\n', "x", [[1], [2]]),
        ("g,x\ngroup 1,5\ngroup 2,7\n", "x", [[5], [7]]),
        ("t,x\n2020-01-01 12:00,5\n2020-01-01 13:00,7\n", "x", [[5], [7]]),
        ("\u00e9,b\n1,2\n".encode("latin-1"), "\u00e9b", [[1, 2]]),
        ("\u00e9,b\n1,2\n".encode("utf-16"), "\u00e9b", [[1, 2]]),
        (b"\xfe\xff" + "\u00e9,b\n1,2\n".encode("utf-16-be"), "\u00e9b", [[1, 2]]),
        ("\u00e9,b\n1,2\n".encode("utf-32"), "\u00e9b", [[1, 2]]),
    ],
    ids=repr,
)
def test_dialects_are_read_as_pandas_and_r_read_them(write, text, columns, data):
    chosen = ["x"] if columns == "x" else None
    table = read(write(text), chosen)
    assert table.columns == tuple(columns)
    np.testing.assert_array_equal(table.data, data)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("petal\n1,4\n1,5\n", "line 2: '1,4' may be two fields or one number; say --separator , for two, or "
         "--decimal ,"),
        ("-1,4\n1,05\n", "line 1: '-1,4' may be two fields or one number"),
        ("x\n1 250\n2 500\n", "line 2: '1 250' may be two fields or one number; say --separator blank for two"),
        ("a,b\n1;2\n3;4\n", "separated otherwise than the lines below"),
        ("x y\n1,2.5\n2,3.5\n", "separated otherwise than the lines below"),
        ("a\tb\n1\t2\n3\t\t4\n", "line 3: 3 fields where line 1 has 2, separated by tabs"),
        ("a,b\n1,2\n#DIV/0!,3\n", "line 3, column 'a': '#DIV/0!' is not a number"),
        ("x;y\n1,5;2\n2,5;3\n", "line 2, column 'x': '1,5' is not a number; for decimal commas: --decimal ,"),
        ("1,5;2,5\n3,5;4,5\n", "commas or semicolons; say which with --separator"),
        ("1,5 2,5\n3,5 4,5\n", "commas or blanks; say which with --separator"),
        ("1;2,3\n4;5,6\n", "commas or semicolons"),
        ("a,b\n1,2,\n3,4,\n", "every line ends with a separator"),
        ("a,b\n1,2,3\n1,4,5\n", "'1' in line 3 again is no name of a row"),
        ("a,b\n0.5,2,3\n0.6,4,5\n", "'0.5' in line 2 is no name of a row"),
        ("a,b\n1\n2\n", "line 1: 2 fields where line 2 has 1"),
        ("5.1,3.5,setosa\n4.9,3,setosa\n", "line 1: 'setosa' may be a name and '5.1' a value; say which with --header"),
        ("0,1\n3,4\n5,6\n", "line 1: 0, 1 may be names of columns or values"),
        ("2001,2002\n0.5,0.25\n", "2001, 2002 may be names"),
        ('"2001","2002"\n5,2\n', "2001, 2002 may be names"),
        (",2001\n1,5\n2,6\n", "may be names"),
        ('""\n1\n2\n', "may be names"),
        ("setosa,NA\nsetosa,5\n", "'setosa' may be a name or a value"),
        ('a,b\n"1,500",2\n', "thousands must not be separated"),
        ("a\n1e400\n", "'1e400' is too large"),
        ("a\n0x1F\n", "'0x1F' is not a number"),
        ("a\n1d3\n", "'1d3' is not a number"),
        ("a\n\u0661\n", "is not a number"),  # a digit to float()
        ("a,b\n1,2 # two\n", "'2 # two' is not a number"),
        ('a,b\n"1,2\n3,4\n', "line 2: a quote is not closed"),
        ('a b\n"1 2\n3 4\n', "line 2: a quote is not closed"),
        ("x,%s\n1,2\n" % ("y" * 200_000), "line 1: field larger than field limit"),
        ("a,b\n1,%s\n" % ("9" * 200_000), "line 2: field larger than field limit"),
        ("# a\n\n# b\n", "no data, only comments"),
        (b"\x1f\x8b\x08", "gzip"),
        (b"PK\x03\x04\x00", "Excel"),
        (b"\x89PNG\r\n\x1a\n\x00", "line 2: not a text file"),
        ("a,b\n1,2\n".encode("utf-16-le"), "line 1: not a text file"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_what_may_be_read_in_two_ways_is_refused(write, text, message):
    assert_refused(write(text), message)


@pytest.mark.parametrize(
    ("text", "options", "data"),
    [
        ("petal\n1,4\n1,5\n", {"decimal": ","}, [[1.4], [1.5]]),
        ("petal\n1,4\n2,5\n", {"separator": ","}, [[4], [5]]),  # names of rows, as R has it
        ("1,4\n2,5\n", {"separator": ","}, [[1, 4], [2, 5]]),
        ("#N/A\n1\n#comment\n#N/A\n", {"na": "drop"}, [[1]]),
        ("x;y\n1,5;2\n", {"decimal": ","}, [[1.5, 2]]),
        ("1,5;2,5\n3,5;4,5\n", {"decimal": ","}, [[1.5, 2.5], [3.5, 4.5]]),
        ("1,5 2,5\n3,5 4,5\n", {"decimal": ","}, [[1.5, 2.5], [3.5, 4.5]]),
        ("1,5 2,5\n3,5 4,5\n", {"decimal": ",", "separator": " "}, [[1.5, 2.5], [3.5, 4.5]]),
        ('a,b\n"1,5","2,5"\n', {"decimal": ",", "separator": ","}, [[1.5, 2.5]]),
        ("a:b\n1:2\n", {"separator": ":"}, [[1, 2]]),
        ("0,1\n3,4\n", {"header": True}, [[3, 4]]),
        ("0,1,2\n3,4,5\n", {"header": False}, [[0, 1, 2], [3, 4, 5]]),
        ("a,b\n1,NA\n3,4\n.,5\n6,7\n", {"na": "drop"}, [[3, 4], [6, 7]]),
        ("a\n1\n\n3\n", {"na": "drop"}, [[1], [3]]),
    ],
    ids=repr,
)
def test_options_decide(write, text, options, data):
    np.testing.assert_array_equal(read(write(text), **options).data, data)


def test_lines_left_out_and_columns_that_count_are_told(write):
    table = read(write("id,x\n1,5\n2,NA\n3,7\n4,8\n5,2\n"), na="drop")
    assert (table.n_dropped, table.counters) == (1, ("id",))
    assert table.details == ("1 line with missing values left out",)
    assert read(write("x\n1\n2\n3\n4\n5\n")).counters == ()


@pytest.mark.parametrize("marker", ["NA", "NaN", "", ".", "?", "null", "N/A", "None", "#N/A", '""', "<NA>"])
def test_markers_of_missing_values(write, marker):
    path = write(f"a,b\n1,2\n3,{marker}\n5,6\n")
    with pytest.raises(InputError, match="line 3, column 'b': the value is missing; fill it in, or .*--na drop"):
        read(path)
    np.testing.assert_array_equal(read(path, na="drop").data, [[1, 2], [5, 6]])
    np.testing.assert_array_equal(read(path, ["a"]).data, [[1], [3], [5]])  # missing elsewhere


def test_all_values_missing(write):
    with pytest.raises(InputError, match="no row has all its values"):
        read(write("a,b\n1,\n,2\n"), na="drop")


def test_places_are_refused_beside_names_of_rows(write):
    path = write("a,b\nx,1,4.5\ny,2,5\n")
    with pytest.raises(InputError, match="choose columns by name"):
        read(path, ["1"])
    np.testing.assert_array_equal(read(path, ["b"]).data, [[4.5], [5]])


def test_the_advice_on_text_can_be_typed_in_a_shell(write):
    with pytest.raises(InputError, match=re.escape("""--columns '"length, cm",petal width'""")):
        read(write('kind,"length, cm",petal width\na,1,2\n'))


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1,2\n")))
    np.testing.assert_array_equal(read("-").data, [[1, 2]])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1,x\n")))
    with pytest.raises(InputError, match="standard input, line 2"):
        read("-")
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="standard input is closed"):
        read("-")
