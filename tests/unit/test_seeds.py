"""Which seeds the suite runs: a third of them, every one and every other parameter among what is left."""

from types import SimpleNamespace

import pytest
from support import settings

KINDS = [f"kind {i}" for i in range(4)]


def items(name, kinds, seeds):
    """Tests as pytest collects them."""
    return [
        SimpleNamespace(nodeid=f"{name}[{kind}-{seed}]",
                        callspec=SimpleNamespace(params={"seed": seed} | ({"kind": kind} if kind else {})))
        for kind in kinds for seed in seeds
    ]  # fmt: skip


def run_of(collected):
    out = settings.left_out(collected)
    return [item.callspec.params for item in collected if item not in out]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 12])
def test_every_seed_and_every_kind_is_run(n, monkeypatch):
    monkeypatch.setattr(settings, "EVERY", 3)
    found = run_of(items("test", KINDS, range(5, 5 + n)))
    assert {one["seed"] for one in found} == set(range(5, 5 + n))
    assert {one["kind"] for one in found} == set(KINDS)
    assert len(found) <= max(len(KINDS), 4 * n / min(n, 3) + 1)


def test_of_seeds_alone_the_first_are_run(monkeypatch):
    monkeypatch.setattr(settings, "EVERY", 3)
    for n, kept in ((4, 4), (12, 6), (60, 20)):
        assert [one["seed"] for one in run_of(items("test", [None], range(n)))] == list(range(kept))


def test_seeds_that_are_no_range_and_all_of_them_where_that_is_asked_for_are_run(monkeypatch):
    monkeypatch.setattr(settings, "EVERY", 3)
    assert len(run_of(items("test", KINDS, [3, 7, 1000]))) == 12
    monkeypatch.setattr(settings, "EVERY", 1)
    assert len(run_of(items("test", KINDS, range(12)) + items("other", [None], range(60)))) == 108
