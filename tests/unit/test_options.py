import dataclasses
import inspect
import io
import math
from fractions import Fraction

import numpy as np
import pytest

import gopfast
from gopfast.errors import GopfastError, InputError, InputTypeError
from gopfast.options import DEFAULTS, Options, seed_from
from gopfast.report import Heartbeat, Progress


def test_defaults_are_those_of_solve():
    options = Options.from_arguments()
    assert options == Options(
        epsilon=None, rel_tol=None, relaxation=None, partition="joint", branching=None, subproblem="enumerate",
        n_threads=None, time_limit=None, max_nodes=None, callback=None, log=None, seed=0,
    )  # fmt: skip


def test_options_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Options.from_arguments().epsilon = 1.0


@pytest.mark.parametrize("epsilon", [1, np.float32(0.5), np.int64(2), Fraction(1, 3), np.array(0.1)])
def test_real_numbers_of_every_kind_become_floats(epsilon):
    options = Options.from_arguments(epsilon)
    assert type(options.epsilon) is float
    assert options.epsilon == pytest.approx(float(epsilon))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_threads", np.int32(4)),
        ("max_nodes", np.uint8(7)),
        ("max_nodes", 1),
        ("time_limit", 0),
        ("time_limit", math.inf),
        ("rel_tol", 0.0),
        ("relaxation", "entropic"),
        ("branching", "orthant"),
    ],
)
def test_good_value_is_kept(name, value):
    assert getattr(Options.from_arguments(**{name: value}), name) == value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("epsilon", bad) for bad in (0, -1.0, math.nan, math.inf, "0.01", True, 1j, [0.01], 10**400)),
        *(("rel_tol", bad) for bad in (-1e-9, math.nan, math.inf, "0", False, np.True_)),
        *(("relaxation", bad) for bad in ("Linear", "", "lp", 1, True, np.array(["linear"]))),
        *(("partition", bad) for bad in (None, "split", 0, ["joint"])),
        *(("branching", bad) for bad in ("bisection", 2, np.zeros(3))),
        *(("subproblem", bad) for bad in (None, "MILP", "all", True)),
        *(("n_threads", bad) for bad in (0, -1, 1.0, True, "2", math.nan, 10**6)),
        *(("time_limit", bad) for bad in (-1, math.nan, "10", True, [1])),
        *(("max_nodes", bad) for bad in (0, -5, 10.0, False, "many", 2**63)),
        *(("callback", bad) for bad in (1, "print", True)),
        *(("log", bad) for bad in (1, "yes", 0)),
        *(("random_state", bad) for bad in (-1, 2**64, 1.5, "seed", True, [1])),
    ],
)
def test_bad_value_is_named(name, value):
    with pytest.raises(InputError, match=rf"^{name} must ") as caught:
        Options.from_arguments(**{name: value})
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, GopfastError)


def test_options_have_the_defaults_of_solve():
    shown = {name: parameter.default for name, parameter in inspect.signature(gopfast.solve).parameters.items()}
    assert {name: shown[name] for name in DEFAULTS} == DEFAULTS
    assert shown.keys() - DEFAULTS.keys() == {"problem", "epsilon", "start", "proof"}


def test_an_option_that_there_is_not_is_a_type_error():
    with pytest.raises(TypeError, match="there is no option 'threads'"):
        Options.from_arguments(threads=2)


def test_wrong_kind_is_also_a_type_error():
    with pytest.raises(TypeError, match="epsilon"):
        Options.from_arguments("small")
    assert issubclass(InputTypeError, ValueError)


@pytest.mark.parametrize("relaxation", [None, "entropic"])
def test_paper_partition_needs_the_linear_relaxation(relaxation):
    with pytest.raises(InputError, match="partition='paper' needs relaxation='linear'"):
        Options.from_arguments(partition="paper", relaxation=relaxation)
    assert Options.from_arguments(partition="paper", relaxation="linear").partition == "paper"


@pytest.mark.parametrize("relaxation", [None, "entropic"])
def test_selection_by_a_mixed_integer_program_needs_the_linear_relaxation(relaxation):
    with pytest.raises(InputError, match="subproblem='milp' needs relaxation='linear'"):
        Options.from_arguments(subproblem="milp", relaxation=relaxation)


@pytest.mark.parametrize("branching", [None, "orthant"])
def test_selection_by_a_mixed_integer_program_is_among_orthants(branching):
    options = Options.from_arguments(subproblem="milp", relaxation="linear", branching=branching)
    assert options.branching == "orthant"
    with pytest.raises(InputError, match="subproblem='milp' selects .* got branching='bisect'"):
        Options.from_arguments(subproblem="milp", relaxation="linear", branching="bisect")


def test_only_enumeration_limits_the_number_of_bound_combinations():
    Options.from_arguments(branching="orthant").check_orthants(12)
    Options.from_arguments(branching="orthant", relaxation="linear", subproblem="milp").check_orthants(13)
    Options.from_arguments().check_orthants(13)
    with pytest.raises(InputError, match="branching='orthant' makes 2\\^13 subproblems per node"):
        Options.from_arguments(branching="orthant").check_orthants(13)


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_generator_gives_the_seed_and_is_advanced(make):
    generator = make(5)
    first, second = seed_from(generator), seed_from(generator)
    assert first == seed_from(make(5))
    assert first != second
    assert 0 <= first < 2**64


def test_integer_is_the_seed_and_none_is_fresh():
    assert seed_from(2**64 - 1) == 2**64 - 1
    assert seed_from(np.int64(3)) == 3
    assert seed_from(None) != seed_from(None)


def test_rejected_call_leaves_the_generator_untouched():
    generator = np.random.default_rng(1)
    with pytest.raises(InputError):
        Options.from_arguments(random_state=generator, partition="paper")
    assert seed_from(generator) == seed_from(np.random.default_rng(1))


def test_what_prints_the_progress(capsys):
    stream, state = io.StringIO(), Progress(0.0, 1, 0, 1.0, 2.0, 1.0, False)
    Options.from_arguments(log=stream).progress_log().update(state)
    Options.from_arguments(log=True).progress_log().update(state)
    assert "nodes" in stream.getvalue() and stream.getvalue() == capsys.readouterr().out
    assert Options.from_arguments(log=np.False_).progress_log() is None
    assert isinstance(Options.from_arguments().progress_log(), Heartbeat)
