"""Statuses and verdicts read as words, and stay the numbers that the core and old pickles know."""

import collections
import copy
import json
import pickle

import numpy as np
import pytest

import gopfast
from gopfast.inference.selection import SelectionStatus
from gopfast.result import Status

KINDS = [Status, gopfast.Verdict, SelectionStatus]
MEMBERS = [member for kind in KINDS for member in kind]


@pytest.mark.parametrize("member", MEMBERS, ids=str)
def test_a_member_prints_as_its_name_and_equals_it(member):
    name = member.name
    assert (str(member), f"{member}", f"{member:>12}") == (name, name, name.rjust(12))
    assert "%s" % member == name  # noqa: UP031 - the old way of formatting has its own path
    assert member == name and name == member and not member != name
    assert member != name.lower() and not member == name.lower()


@pytest.mark.parametrize("kind", KINDS)
def test_members_differ_from_each_other_and_from_anything_else(kind):
    for member in kind:
        assert [other for other in kind if other == member] == [member]
        assert member is not None and member != None and member != [member.name]  # noqa: E711
        assert member not in ("", "1", 0, 99, 1.5)


@pytest.mark.parametrize("member", MEMBERS, ids=str)
def test_the_hash_is_that_of_the_name(member):
    assert hash(member) == hash(member.name)
    assert member in {member.name}
    assert {member: "x"}[member.name] == {member.name: "x"}[member] == "x"
    assert collections.Counter([member, member])[member.name] == 2


def test_a_status_is_the_number_that_it_was():
    for number, status in enumerate(Status, start=1):
        assert status == number and number == status and int(status) == number and Status(number) is status
        assert not status != number and status != number + 1 and status < number + 1
        assert f"{status:d}" == str(number)
        assert np.array([status]).tolist() == [number]
        assert json.loads(json.dumps({"status": status})) == {"status": number}


def test_a_specification_of_neither_kind_is_an_error():
    with pytest.raises(ValueError, match="[Ff]ormat"):
        f"{gopfast.Verdict.PROVED:d}"


@pytest.mark.parametrize("member", MEMBERS, ids=str)
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_and_copies_are_the_same_member(member, protocol):
    assert pickle.loads(pickle.dumps(member, protocol)) is member
    assert copy.deepcopy(member) is member


def test_pickles_of_earlier_versions_are_read():
    # pickle.dumps(Status.TIME_LIMIT, 0) of version 0.1.0
    assert pickle.loads(b"cgopfast.result\nStatus\np0\n(I2\ntp1\nRp2\n.") is Status.TIME_LIMIT
    old = b"cgopfast.certificate\nVerdict\n(Vanother fit has an objective lower by more than epsilon\ntR."
    assert pickle.loads(old) is gopfast.Verdict.BEATEN


def test_the_status_of_a_result_reads_as_a_word():
    result = gopfast.solve(gopfast.GaussianMixture([0.0, 9.0], 2, covariance="known"))
    assert f"{result.status}" == "OPTIMAL" and result.status == "OPTIMAL" and result.status in {"OPTIMAL", "CUTOFF"}
    assert result.to_dict()["status"] == result.status
