import itertools

import pytest
from hypothesis import given, strategies as st

from gopfast import InputError
from gopfast.biconvex.partition import find

NAMES = [f"z{i}" for i in range(9)]
pairs = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)).map(lambda p: (min(p), max(p))), unique=True)


@given(pairs)
def test_every_product_has_a_factor_on_each_side(products):
    partition = find(products, 9, NAMES)
    for (i, j), (first, second) in partition.products.items():
        assert {partition.side[first], partition.side[second]} == {0, 1}
        originals = sorted(partition.copies.get(k, k) for k in (first, second))
        assert originals == [i, j]


@given(pairs)
def test_there_are_no_copies_where_a_partition_exists(products):
    def bipartite():
        for sides in itertools.product((0, 1), repeat=9):
            if all(sides[i] != sides[j] for i, j in products):
                return True
        return False

    partition = find(products, 9, NAMES)
    assert bool(partition.copies) != bipartite()


def test_side_0_is_the_smaller_one_of_each_component():
    star, path = [(0, 1), (0, 2), (0, 3)], [(4, 6), (5, 6)]
    side = find(star + path, 9, NAMES).side
    assert [i for i in side if side[i] == 0] == [0, 6]


def test_given_groups_are_kept():
    side = find([(0, 1), (2, 3)], 9, NAMES, x=[0, 2], y=[1, 3]).side
    assert side[0] != side[1] and side[2] != side[3]
    with pytest.raises(InputError, match="x must not hold both .* 'z0' and 'z1'"):
        find([(0, 1)], 9, NAMES, x=[0, 1])


def test_a_square_and_an_odd_cycle_need_one_copy_each():
    assert list(find([(2, 2)], 9, NAMES).copies.values()) == [2]
    assert len(find([(0, 1), (1, 2), (0, 2)], 9, NAMES).copies) == 1
