"""Workspaces: the run that hands out takes what the run that counts took, and a write beyond an end is found."""

import pytest
from gopfast.search.arena import trial

SIZES = [3, 0, 5, 1]


def test_arrays_stand_behind_each_other_and_are_zero():
    starts, zero, damaged = trial(SIZES, SIZES)
    ends = [start + size for start, size in zip(starts, SIZES, strict=True)]
    assert starts[0] == 0
    assert all(end < start for end, start in zip(ends, starts[1:], strict=False))  # a guard lies between
    assert zero
    assert not damaged


@pytest.mark.parametrize("taken", [[3, 0, 5, 2], [3, 0, 6, 1], [3, 0, 5, 1, 0], [3, 0, 5, 1, 1], [2**60], [2**64 - 1]])
def test_a_layout_that_takes_more_than_it_counted_raises(taken):
    with pytest.raises(RuntimeError, match="takes more than was counted: 9 doubles"):
        trial(SIZES, taken)


@pytest.mark.parametrize("taken", [[3, 0, 5], [3, 0, 5, 0], [3, 0, 4, 1], []])
def test_a_layout_that_takes_less_than_it_counted_raises(taken):
    with pytest.raises(RuntimeError, match="counted were 9 in 4"):
        trial(SIZES, taken)


def test_arrays_of_other_sizes_but_the_same_sum_raise_unless_they_are_as_many():
    with pytest.raises(RuntimeError, match="counted"):
        trial([3, 5], [3, 2, 2])


def test_full_arrays_are_no_damage():
    assert not trial(SIZES, SIZES, SIZES)[2]


@pytest.mark.parametrize("at", range(len(SIZES)))
def test_a_write_beyond_an_end_is_found(at):
    written = [size + (i == at) for i, size in enumerate(SIZES)]
    assert trial(SIZES, SIZES, written)[2]
