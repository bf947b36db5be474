import dataclasses
import inspect
import io
import math
import pickle
import re
from fractions import Fraction

import numpy as np
import pytest

import gopfast
from gopfast.annotations import SolveOptions
from gopfast.arguments import parser
from gopfast.errors import GopfastError, InputError, InputTypeError
from gopfast.options import ARGUMENTS, DEFAULTS, FLAGS, OF_STATE, Options, seed_from
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
        *(("memory_limit", bad) for bad in (0, "much", True)),
        *((name, 1) for name in ("spill", "checkpoint", "executor")),
        *(("checkpoint_every", bad) for bad in (None, -1.0, math.inf)),
        *(("random_state", bad) for bad in (-1, 2**64, 1.5, "seed", True, [1])),
    ],
)
def test_bad_value_is_named(name, value):
    with pytest.raises(InputError, match=rf"^{name} must ") as caught:
        Options.from_arguments(**{name: value})
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, GopfastError)


OF_SOLVE = inspect.signature(gopfast.solve).parameters


def test_solve_is_declared_as_its_options_are():
    shown = {name: parameter.default for name, parameter in OF_SOLVE.items()}
    assert {name: shown[name] for name in DEFAULTS} == DEFAULTS
    assert shown.keys() - DEFAULTS.keys() == {"problem", "epsilon", "start", "proof"}
    hints = {name: parameter.annotation for name, parameter in OF_SOLVE.items() if name not in ("problem", "epsilon")}
    assert SolveOptions.__annotations__ == hints


def test_resume_takes_what_the_state_of_a_search_does_not_depend_on():
    parameters = inspect.signature(gopfast.resume).parameters.values()
    own = {parameter.name: parameter for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY}
    assert own.keys() == set(ARGUMENTS) - set(OF_STATE) - {"checkpoint"}
    assert own == {name: OF_SOLVE[name] for name in own}


def test_every_argument_is_described():
    for function, names in ((gopfast.solve, {*ARGUMENTS, "start", "proof"}), (gopfast.resume, {"spill", "executor"})):
        section = inspect.getdoc(function).partition("Parameters\n")[2].partition("Returns\n")[0]
        described = {name for line in re.findall(r"^(\w.*?)(?: :.*)?$", section, re.M) for name in line.split(", ")}
        assert names <= described


def test_the_command_has_the_options_for_long_searches():
    for name, arguments in (("fit", ["data.csv", "-k", "2"]), ("solve", ["model.lp"]), ("resume", ["a", "b"])):
        command = parser(*([None] * 12)).parse_args([name, *arguments])
        assert {option: vars(command)[option] for option in FLAGS if option != "checkpoint"} == {
            option: DEFAULTS[option] for option in FLAGS if option != "checkpoint"
        }
        assert command.checkpoint == ("a" if name == "resume" else None)


def test_what_a_worker_has_can_be_sent_and_limits_nothing(tmp_path):
    options = Options.from_arguments(
        0.1, relaxation="linear", n_threads=3, time_limit=1.0, max_nodes=7, callback=lambda state: None, log=True,
        random_state=5, memory_limit="1GB", spill=tmp_path, checkpoint=tmp_path / "c", executor=Submits(),
    )  # fmt: skip
    sent = pickle.loads(pickle.dumps(options.of_worker()))
    assert sent == Options.from_arguments(0.1, relaxation="linear", n_threads=1, log=False, random_state=5)
    assert sent.of_state() == options.of_state()
    assert options.of_state().keys() == set(OF_STATE)


class Submits:
    def submit(self):
        raise AssertionError


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
