"""
The options of a solve: declared once, in `Options`, and validated before any work.

From a declaration come the check and the default of the argument of `gopfast.solve`, the entry of a checkpoint, what a
worker has in its place, and the argument of the command. Signatures, which editors and type checkers read, are written
out and tested to agree with it.
"""

import logging
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gopfast import checks
from gopfast.annotations import (
    Branching,
    Callback,
    Executor,
    Json,
    Log,
    Partition,
    Relaxation,
    Seed,
    SolveOptions,
    Subproblem,
)
from gopfast.errors import InputError, InputTypeError
from gopfast.report import Heartbeat, LoggerStream, ProgressBar, ProgressLog
from gopfast.switches import switched_off
from gopfast.tuning import CHECKPOINT_EVERY, MOST_ORTHANT_VARIABLES, MOST_THREADS

if TYPE_CHECKING:
    from typing_extensions import Unpack

RELAXATIONS = (None, "linear", "entropic", "pricing")
PARTITIONS = ("joint", "paper")
BRANCHINGS = (None, "bisect", "orthant")
SUBPROBLEMS = ("enumerate", "milp")
BAR = "bar"
LARGEST_SEED = 2**64 - 1
MOST_NODES = 2**62  # fits the core's integers


def seed_from(random_state: Seed) -> int:
    """
    Turn a `random_state` argument into a 64-bit seed.

    Parameters
    ----------
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState
        None draws fresh entropy; an int in ``[0, 2**64)`` is returned; a generator is asked for one draw.

    Returns
    -------
    int
        In ``[0, 2**64)``.

    Raises
    ------
    InputError
        If `random_state` is none of these.
    """
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(LARGEST_SEED, dtype=np.uint64, endpoint=True))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(0, LARGEST_SEED, dtype=np.uint64))
    try:
        return checks.whole_number("random_state", random_state, 0, LARGEST_SEED)
    except InputTypeError:
        raise InputTypeError(
            "random_state must be None, an integer, a numpy Generator or a RandomState; "
            f"got {type(random_state).__name__}"
        ) from None


def _check_callback(name, value):
    if not callable(value):
        raise InputTypeError(f"{name} must be callable or None; got {type(value).__name__}")
    return value


def _check_folder(name, value):
    """Return the path of a folder as text; it may be made later."""
    folder = checks.path(name, value)
    if os.path.exists(folder) and not (os.path.isdir(folder) and os.access(folder, os.W_OK)):
        raise InputError(f"{name}: {folder!r} is no folder that can be written to")
    return folder


def _check_executor(name, value):
    if not callable(getattr(value, "submit", None)):
        raise InputTypeError(f"{name} must be a concurrent.futures.Executor or None; got {type(value).__name__}")
    return value


def _check_log(name, value):
    if isinstance(value, Heartbeat):
        return value
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, str) and value == BAR:
        return value
    if not callable(getattr(value, "write", None)) and not isinstance(value, logging.Logger):
        raise InputTypeError(
            f"{name} must be None, True, False, 'bar', a logger or a stream with a write method; got {value!r}"
        )
    return value


def option(
    check: Callable[[str, Any], object],
    default: object = None,
    *,
    of_state: bool = False,
    flag: Mapping[str, object] | None = None,
    **worker: object,
) -> Any:
    """
    Declare an option.

    Parameters
    ----------
    check : callable
        Takes the name and a value, which it returns as the search takes it, or raises an `InputError`.
    default
        Of the argument of `gopfast.solve`; where it is None, None passes unchecked.
    of_state : bool
        Whether the state of a search depends on it: a checkpoint has it, and `gopfast.resume` takes it from there.
    flag : mapping, optional
        Arguments of `argparse` for the command: it is then one of its options for long searches.
    worker : optional
        What a worker of an executor has in its place: `worker=VALUE`; by default the same.
    """
    return field(default=default, metadata={"check": check, "of_state": of_state, "flag": flag, **worker})


def one_of(allowed: Sequence[str | None]) -> Callable[[str, object], object]:
    """Return a check that a value is one of these."""
    return partial(checks.choice, allowed=allowed)


def whole_up_to(high: int) -> Callable[[str, object], object]:
    """Return a check that a value is a whole number from 1 on."""
    return partial(checks.whole_number, low=1, high=high)


@dataclass(frozen=True)
class Options:
    """
    Validated options; made by `Options.from_arguments`, never changed.

    Attributes are those of the arguments of `gopfast.solve` of the same names: numbers, paths as text, and None where
    the choice is left to the kind of problem. And

    Attributes
    ----------
    seed : int
        64-bit seed, drawn from the argument `random_state`.
    without : frozenset of str
        Mechanisms that are switched off, see `gopfast.settings`.
    """

    epsilon: float | None = option(checks.positive_number, of_state=True)
    rel_tol: float | None = option(checks.nonnegative_number, of_state=True)
    relaxation: Relaxation = option(one_of(RELAXATIONS), of_state=True)
    partition: Partition = option(one_of(PARTITIONS), "joint", of_state=True)
    branching: Branching = option(one_of(BRANCHINGS), of_state=True)
    subproblem: Subproblem = option(one_of(SUBPROBLEMS), "enumerate", of_state=True)
    n_threads: int | None = option(whole_up_to(MOST_THREADS), worker=1)
    time_limit: float | None = option(partial(checks.nonnegative_number, infinite=True), worker=None)
    max_nodes: int | None = option(whole_up_to(MOST_NODES), worker=None)
    callback: Callback | None = option(_check_callback, worker=None)
    log: Log = option(_check_log, worker=False)
    memory_limit: float | None = option(
        checks.memory_size, worker=None,
        flag={"metavar": "SIZE", "help": "memory of the process, such as 2GB (default: 80 %% of what is free)"},
    )  # fmt: skip
    spill: str | None = option(
        _check_folder, worker=None, flag={"metavar": "DIR", "help": "folder for open nodes that do not fit"}
    )
    checkpoint: str | None = option(
        checks.writable, worker=None,
        flag={"metavar": "FILE", "help": "write the state of the search there, for `gopfast resume`"},
    )  # fmt: skip
    checkpoint_every: float = option(
        checks.nonnegative_number, CHECKPOINT_EVERY,
        flag={"metavar": "S", "type": float, "help": "seconds between checkpoints (default: %(default)g)"},
    )  # fmt: skip
    executor: Executor | None = option(_check_executor, worker=None)
    seed: int = 0
    without: frozenset[str] = frozenset()

    @classmethod
    def from_arguments(cls, epsilon: float | None = None, **options: "Unpack[SolveOptions]") -> "Options":
        """
        Validate the arguments of `gopfast.solve`.

        Parameters
        ----------
        epsilon, **options
            The attributes of the same names; `memory_limit` also as text such as "4GB".
        random_state : None, int, numpy.random.Generator or numpy.random.RandomState
            Where the seed comes from: None for fresh entropy, an int in ``[0, 2**64)`` is the seed itself,
            a generator is asked for one draw.

        Returns
        -------
        Options

        Raises
        ------
        InputError
            A `ValueError` that names the first argument with a bad value.
        InputTypeError
            An `InputError` and `TypeError` for an argument of a wrong kind.
        TypeError
            For an option that there is not.
        """
        if unknown := options.keys() - DEFAULTS.keys():
            raise TypeError(f"there is no option {min(unknown)!r}")
        given: dict[str, Any] = {**DEFAULTS, "epsilon": epsilon, **options}
        checked: dict[str, Any] = {
            name: None if given[name] is None and one.default is None else one.metadata["check"](name, given[name])
            for name, one in DECLARED.items()
        }
        if checked["partition"] == "paper" and checked["relaxation"] != "linear":
            raise InputError(
                "partition='paper' needs relaxation='linear', as the entropic relaxed dual keeps the weights "
                f"pi in b; got relaxation={checked['relaxation']!r}"
            )
        if checked["subproblem"] == "milp":
            if checked["relaxation"] != "linear":
                raise InputError(
                    "subproblem='milp' needs relaxation='linear': only linear relaxed dual subproblems make a "
                    f"mixed-integer program; got relaxation={checked['relaxation']!r}"
                )
            if checked["branching"] == "bisect":
                raise InputError(
                    "subproblem='milp' selects one of the bound combinations of branching='orthant'; got "
                    "branching='bisect'"
                )
            checked["branching"] = "orthant"
        # Last, so that a rejected call leaves the caller's generator untouched.
        return cls(**checked, seed=seed_from(given["random_state"]), without=switched_off())

    @classmethod
    def from_call(cls, arguments: Mapping[str, object]) -> "Options":
        """Validate the options among the arguments of a function, by name; as `from_arguments`."""
        given: dict[str, Any] = {name: value for name, value in arguments.items() if name in ARGUMENTS}
        return cls.from_arguments(**given)

    def of_state(self) -> dict[str, Json]:
        """Return the arguments that the state of a search depends on, in JSON types."""
        return {name: getattr(self, name) for name in DECLARED if name in OF_STATE} | {"random_state": self.seed}

    def of_worker(self) -> "Options":
        """Return what a worker of an executor has in their place."""
        kept = {name: one.metadata["worker"] for name, one in DECLARED.items() if "worker" in one.metadata}
        return replace(self, **kept)

    def of_fixed(self) -> "Options":
        """Return the options of a mixture whose shared parameter is fixed: no method is named."""
        return replace(self, relaxation=None, partition="joint", branching=None, subproblem="enumerate")

    def check_orthants(self, n_connected: int) -> None:
        """Raise an InputError where a node would have too many bound combinations to enumerate."""
        if self.branching == "orthant" and self.subproblem == "enumerate" and n_connected > MOST_ORTHANT_VARIABLES:
            raise InputError(
                f"branching='orthant' makes 2^{n_connected} subproblems per node here; beyond "
                f"{MOST_ORTHANT_VARIABLES} connected variables use branching='bisect', or with relaxation='linear' "
                "subproblem='milp'"
            )

    def refuse(self, names: Sequence[str], where: str) -> None:
        """Raise an InputError for the first of these options that is given, which are not offered `where`."""
        for name in names:
            if getattr(self, name) is not None:
                raise InputError(f"{name} must be None {where}")

    def progress_log(self) -> ProgressLog | Heartbeat | None:
        """Return what prints the progress, with `update`, or None for silence."""
        if self.log is None or isinstance(self.log, Heartbeat):
            return self.log or Heartbeat()
        if self.log == BAR:
            return ProgressBar()
        if isinstance(self.log, logging.Logger):
            return ProgressLog(LoggerStream(self.log))
        if self.log is False:
            return None
        return ProgressLog(sys.stdout if self.log is True else self.log)


DECLARED = {one.name: one for one in fields(Options) if one.metadata}
ARGUMENTS = (*DECLARED, "random_state")  # of `gopfast.solve`
DEFAULTS = {name: one.default for name, one in DECLARED.items() if name != "epsilon"} | {"random_state": 0}
OF_STATE = (*(name for name, one in DECLARED.items() if one.metadata["of_state"]), "random_state")
# Options of the command for long searches: name -> arguments of argparse
FLAGS = {
    name: {"default": one.default, **one.metadata["flag"]} for name, one in DECLARED.items() if one.metadata["flag"]
}
