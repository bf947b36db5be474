"""300 CSV files of many dialects: each is read as pandas or R would read it, or refused; none is read differently."""

from collections import Counter

import numpy as np
import pytest
from support import csv_dialects

from gopfast.errors import InputError
from gopfast.reading import table

N_FILES = 300


@pytest.fixture(scope="module")
def files():
    return [csv_dialects.make(seed) for seed in range(N_FILES)]


@pytest.fixture(scope="module")
def found(files, tmp_path_factory):
    """The data read of each file, or the message of the refusal."""
    path = tmp_path_factory.mktemp("dialects") / "data.csv"

    def read(file):
        path.write_bytes(file.content)
        try:
            return table.read(path, file.columns, **file.options).data
        except InputError as error:
            return str(error)

    return [read(file) for file in files]


def test_none_is_read_differently(files, found):
    for seed, (file, data) in enumerate(zip(files, found, strict=True)):
        if not isinstance(data, str):
            assert file.data is not None, f"{seed}: {file.dialect} is read"
            np.testing.assert_array_equal(data, file.data, err_msg=f"{seed}: {file.dialect}")


def test_none_is_refused_where_the_options_leave_no_doubt(files, found):
    for seed, (file, data) in enumerate(zip(files, found, strict=True)):
        assert not (file.must_be_read and isinstance(data, str)), f"{seed}: {file.dialect}: {data}"


def test_most_are_read_without_options(files, found):
    plain = [data for file, data in zip(files, found, strict=True) if file.data is not None and not file.must_be_read]
    assert sum(not isinstance(data, str) for data in plain) > len(plain) / 2


def test_a_refusal_names_a_line_unless_the_whole_file_is_meant(files, found):
    for file, message in zip(files, found, strict=True):
        if isinstance(message, str):
            assert "line " in message or "no row has all its values" in message, (file.dialect, message)


def test_the_generator_is_deterministic_and_makes_every_dialect(files):
    again = csv_dialects.make(7)
    assert again.content == files[7].content
    counts = Counter(file.dialect for file in files)
    assert {f"fault: {fault}" for fault in csv_dialects.FAULTS} <= counts.keys()
    assert {f"separated by {name}" for name in csv_dialects.SEPARATORS} <= counts.keys()
    assert len(counts) >= 28
    assert sum(file.must_be_read for file in files) >= N_FILES / 4
