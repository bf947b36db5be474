"""The options of a solve, validated before any work."""

import logging
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from gopfast import checks
from gopfast.annotations import (
    Branching,
    Callback,
    Executor,
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
# As in the signature of `gopfast.solve`.
DEFAULTS = {
    **dict.fromkeys(("rel_tol", "relaxation", "branching", "n_threads", "time_limit", "max_nodes", "callback", "log")),
    **dict.fromkeys(("memory_limit", "spill", "checkpoint", "executor")),
    "partition": "joint", "subproblem": "enumerate", "random_state": 0, "checkpoint_every": CHECKPOINT_EVERY,
}  # fmt: skip


@dataclass(frozen=True)
class Options:
    """
    Validated options; made by `Options.from_arguments`, never changed.

    Attributes
    ----------
    epsilon : float or None
        Absolute tolerance, in units of the objective (nats). The search stops when
        ``upper - lower <= max(epsilon, rel_tol * abs(upper))``.
    rel_tol : float or None
        Relative tolerance. None, here and above: the default of the problem's kind.
    relaxation : {"linear", "entropic"} or None
        Which relaxed dual; None leaves the choice to the problem's model.
    partition : {"joint", "paper"}
        Which variables are a and which are b: a = {nu} or the paper's a = {nu, pi}.
    branching : {"bisect", "orthant"} or None
        Split one connected variable or all of them; None leaves the choice to the relaxation. With
        ``subproblem="milp"`` "orthant".
    subproblem : {"enumerate", "milp"}
        Bound all combinations of bounds, or select the best one by a mixed-integer program.
    n_threads : int or None
        Number of threads; None leaves the choice to the solver.
    time_limit : float or None
        Seconds; None for no limit.
    max_nodes : int or None
        Number of nodes; None for no limit.
    callback : callable or None
        Called with a `gopfast.report.Progress`; returning True stops the search.
    log : None, bool, file object or Heartbeat
        False for silence, True for a table on standard output, else the stream to print it on. None: a line on
        standard error after 10 seconds, and each time that the time has doubled.
    seed : int
        64-bit seed, drawn from `random_state`.
    memory_limit : float or None
        Bytes that the process may take; None: a share of what is free at the start.
    spill : str or None
        Folder for open nodes that do not fit.
    checkpoint : str or None
        File for the state of the search.
    checkpoint_every : float
        Seconds between two checkpoints.
    executor : concurrent.futures.Executor or None
        What runs parts of the search; None: this process alone.
    without : frozenset of str
        Mechanisms that are switched off, see `gopfast.settings`.
    """

    epsilon: float | None
    rel_tol: float | None
    relaxation: Relaxation
    partition: Partition
    branching: Branching
    subproblem: Subproblem
    n_threads: int | None
    time_limit: float | None
    max_nodes: int | None
    callback: Callback | None
    log: Log
    seed: int
    memory_limit: float | None = None
    spill: str | None = None
    checkpoint: str | None = None
    checkpoint_every: float = CHECKPOINT_EVERY
    executor: Executor | None = None
    without: frozenset[str] = frozenset()

    @classmethod
    def from_arguments(cls, epsilon: float | None = None, **options: "Unpack[SolveOptions]") -> "Options":
        """
        Validate the arguments of `gopfast.solve`.

        Parameters
        ----------
        epsilon, rel_tol, relaxation, partition, branching, subproblem, n_threads, time_limit, max_nodes, callback, log
            As the attributes of the same name.
        memory_limit, spill, checkpoint, checkpoint_every, executor
            The same; `memory_limit` also as text such as "4GB".
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
        given = {**DEFAULTS, **options}
        rel_tol, n_threads, time_limit, max_nodes = (
            given[name] for name in ("rel_tol", "n_threads", "time_limit", "max_nodes")
        )
        relaxation, partition, branching, subproblem = (
            given[name] for name in ("relaxation", "partition", "branching", "subproblem")
        )
        checked = {
            "epsilon": None if epsilon is None else checks.positive_number("epsilon", epsilon),
            "rel_tol": None if rel_tol is None else checks.nonnegative_number("rel_tol", rel_tol),
            "relaxation": checks.choice("relaxation", relaxation, RELAXATIONS),
            "partition": checks.choice("partition", partition, PARTITIONS),
            "branching": checks.choice("branching", branching, BRANCHINGS),
            "subproblem": checks.choice("subproblem", subproblem, SUBPROBLEMS),
            "n_threads": None if n_threads is None
            else checks.whole_number("n_threads", n_threads, 1, MOST_THREADS),
            "time_limit": None if time_limit is None
            else checks.nonnegative_number("time_limit", time_limit, infinite=True),
            "max_nodes": None if max_nodes is None
            else checks.whole_number("max_nodes", max_nodes, 1, MOST_NODES),
            "callback": _check_callback(given["callback"]),
            "log": _check_log(given["log"]),
            "memory_limit": None if given["memory_limit"] is None
            else checks.memory_size("memory_limit", given["memory_limit"]),
            "spill": _check_folder("spill", given["spill"]),
            "checkpoint": None if given["checkpoint"] is None
            else checks.writable("checkpoint", given["checkpoint"]),
            "checkpoint_every": checks.nonnegative_number("checkpoint_every", given["checkpoint_every"]),
            "executor": _check_executor(given["executor"]),
        }
        if partition == "paper" and relaxation != "linear":
            raise InputError(
                "partition='paper' needs relaxation='linear', as the entropic relaxed dual keeps the weights "
                f"pi in b; got relaxation={relaxation!r}"
            )
        if subproblem == "milp":
            if relaxation != "linear":
                raise InputError(
                    "subproblem='milp' needs relaxation='linear': only linear relaxed dual subproblems make a "
                    f"mixed-integer program; got relaxation={relaxation!r}"
                )
            if branching == "bisect":
                raise InputError(
                    "subproblem='milp' selects one of the bound combinations of branching='orthant'; got "
                    "branching='bisect'"
                )
            checked["branching"] = "orthant"
        # Last, so that a rejected call leaves the caller's generator untouched.
        return cls(**checked, seed=seed_from(given["random_state"]), without=switched_off())

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


def _check_callback(callback):
    if callback is not None and not callable(callback):
        raise InputTypeError(f"callback must be callable or None; got {type(callback).__name__}")
    return callback


def _check_folder(name, value):
    """Return the path of a folder as text, or None; it may be made later."""
    if value is None:
        return None
    folder = checks.path(name, value)
    if os.path.exists(folder) and not (os.path.isdir(folder) and os.access(folder, os.W_OK)):
        raise InputError(f"{name}: {folder!r} is no folder that can be written to")
    return folder


def _check_executor(executor):
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise InputTypeError(f"executor must be a concurrent.futures.Executor or None; got {type(executor).__name__}")
    return executor


def _check_log(log):
    if log is None:
        return None
    if isinstance(log, (bool, np.bool_)):
        return bool(log)
    if isinstance(log, str) and log == BAR:
        return log
    if not callable(getattr(log, "write", None)) and not isinstance(log, logging.Logger):
        raise InputTypeError(
            f"log must be None, True, False, 'bar', a logger or a stream with a write method; got {log!r}"
        )
    return log
