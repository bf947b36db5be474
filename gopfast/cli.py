"""The command ``gopfast``."""

import contextlib
import csv
import functools
import importlib.util
import json
import multiprocessing
import os
import shutil
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import gopfast
from gopfast import checks
from gopfast.arguments import parser
from gopfast.biconvex import polynomial
from gopfast.binary import SUFFIXES as BINARY_SUFFIXES, read_binary
from gopfast.checker.file import read as read_proof
from gopfast.clustering.result import ClusteringResult, PartitionResult
from gopfast.errors import GopfastError, InputError
from gopfast.mixtures.problems.covariance import Diagonal, Known
from gopfast.mixtures.problems.mixed_table import KINDS
from gopfast.mixtures.record import READ_FROM
from gopfast.options import FLAGS
from gopfast.reading.labels import read_labels
from gopfast.reading.numbers import number
from gopfast.reading.table import read
from gopfast.reading.text import STANDARD_INPUT, read_lines, shown
from gopfast.result import Status, to_json_types
from gopfast.search.checkpoint import Stored
from gopfast.tuning import LIVE_INTERVAL

EXIT_PROVED, EXIT_LIMIT, EXIT_WRONG, EXIT_BEATEN, EXIT_INTERRUPTED, EXIT_UNREAD = 0, 1, 2, 3, 130, 141
# What a record says of its model; the arguments of GaussianMixture.
MODEL_NAMES = (
    "n_components", "covariance", "variance_floor", "prior", "posterior", "noise_variance", "prior_variance_bounds",
)  # fmt: skip
# The same of a RegressionMixture, by its family, and what it does not take.
REGRESSION_NAMES = (
    "n_components", "family", "variance", "variance_floor", "noise_variance", "fit_intercept", "groups",
    "shared_coefficients",
)  # fmt: skip
COUNT_NAMES = (
    "n_components", "family", "n_trials", "offset", "groups", "least_count", "fit_intercept", "shared_coefficients"
)  # fmt: skip
OF_REGRESSIONS = (
    "variance", "fit_intercept", "family", "n_trials", "offset", "groups", "least_count", "shared_coefficients"
)  # fmt: skip
# Flags and options of the columns that come after the regressors, in their order.
PLACES = (("--trials", "n_trials"), ("--offset", "offset"), ("--groups", "groups"), ("--response", "response"))
NOT_OF_REGRESSIONS = ("covariance", "covariances", "prior", "posterior")
READING = ("columns", "separator", "decimal", "header", "na", "response")  # options: how data are read
STANDARD_OUTPUT = "-"
PROBLEM_SUFFIXES = (".json", ".lp", ".mps", ".nl", ".qplib")


def main(arguments: Sequence[str] | None = None) -> int:
    """
    Run the command.

    Parameters
    ----------
    arguments : list of str, optional
        By default those of the process.

    Returns
    -------
    int
        Exit code: 0 proved, 1 limit reached, 2 wrong usage or input, 3 beaten, 130 interrupted, 141 output not read;
        of `check` 3 is a proof that does not hold.
    """
    _make_streams_safe()
    try:
        commands = fit, resume, certify, compare, select, solve, check, kmeans, classes, mixed, regress, clusterwise
        options = parser(*commands).parse_args(arguments)
    except SystemExit as stop:
        return int(stop.code or 0)
    try:
        code = options.run(options)
        sys.stdout.flush()
        return code
    except (GopfastError, NotImplementedError, ImportError) as error:
        return _failed(error)
    except MemoryError:
        return _failed("there is not enough memory")
    except KeyboardInterrupt:
        print("gopfast: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    except OSError as error:
        # Without this Python complains once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        # Of a reader that has gone nobody wants to hear.
        return EXIT_UNREAD if isinstance(error, BrokenPipeError) else _failed(f"standard output: {error.strerror}")


def _make_streams_safe():
    """Write what an encoding lacks by its number, and nothing to a stream that is closed."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _failed(error):
    """Say in one line what is wrong, and return the exit code."""
    print(f"gopfast: error: {' '.join(str(error).split())}", file=sys.stderr)
    return EXIT_WRONG


def fit(options):
    """Prove the best fit of a mixture."""
    table, problem = _problem(options, in_chunks=True)
    with _Progress(options) as progress, _workers(options) as executor:
        result = gopfast.solve(
            problem, **_search(options), **_long(options, executor), **progress.options, proof=options.proof
        )
    return _report_fit(options, table, result)


def regress(options):
    """Prove the best mixture of regressions: a fit that has a response."""
    return fit(options)


def resume(options):
    """Go on with a search that was stopped."""
    if options.data is None:
        _recall_data(options)
    _check_outputs(options)
    if Path(options.data).suffix.lower() in PROBLEM_SUFFIXES:
        data = _read_problem(options.data)
    else:
        table = _read_table(options, in_chunks=True)
        data = table.data
        _check_labels(options, table)
    with _Progress(options) as progress, _workers(options) as executor:
        result = gopfast.resume(
            options.checkpoint, data, time_limit=options.time_limit, n_threads=options.threads,
            **_long(options, executor), **progress.options,
        )  # fmt: skip
    if isinstance(data, (gopfast.BiconvexProblem, gopfast.PolynomialProblem)):
        return _report_solve(options, data, result)
    return _report_fit(options, table, result)


def _recall_data(options):
    """Take the data from where `gopfast fit` has read them, as the checkpoint says, and in that way."""
    try:
        said = Stored(options.checkpoint).header["problem"]["private"][READ_FROM]
        found = {name: said[name] for name in (*READING, "data") if name in said or name != "response"}
    except (KeyError, TypeError):
        raise InputError(
            f"{shown(options.checkpoint)} does not say where its data are: give their file, as in gopfast resume FILE "
            "data.csv"
        ) from None
    vars(options).update(found)


def _report_fit(options, table, result):
    """Write and print a fit; return the exit code."""
    problem = result.solution.problem
    record = {"model": _record(problem), **_data_record(table), **result.to_dict()}
    text = f"{_data_line(options, table)}\n{problem!r}\n{result}"
    _report(options, record, result.plot, f"{text}\n{result.summary()}" if options.summary else text, result)
    _warn_of_limit(options, result.status, "the fit", result.gap)
    return _exit_code(result.status)


def _workers(options):
    """Return the processes to search in, which end with the context that they are; None within it without any."""
    if options.workers is None:
        return contextlib.nullcontext()
    count = checks.whole_number("--workers", options.workers, 1)
    return ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn"))


def _long(options, executor):
    """Return the options for long searches; `gopfast.resume` has its checkpoint's path already."""
    names = [name for name in FLAGS if name != "checkpoint" or options.run is not resume]
    return {"executor": executor, **{name: getattr(options, name) for name in names}}


def certify(options):
    """Prove or beat a fit."""
    if options.data == options.fit == STANDARD_INPUT:
        raise InputError("the data and the fit cannot both come from standard input")
    record = _read_json(options.fit)
    columns, model = record.get("columns"), record.get("model")
    if options.response is None and isinstance(model, dict) and isinstance(model.get("response"), str):
        options.response = model["response"]
    if columns is not None and not (isinstance(columns, list) and all(isinstance(name, str) for name in columns)):
        raise InputError(f'{options.fit}: "columns" must be a list of names')
    table = _read_table(options, columns)
    make = gopfast.GaussianMixture if options.response is None else gopfast.RegressionMixture
    problem = make(table.data, **_model_of(record, options))
    with _Progress(options) as progress:
        found = gopfast.certify(problem, record, **_search(options), **progress.options)
    print(f"{_data_line(options, table)}\n{found}")
    if found.verdict is not gopfast.Verdict.UNDECIDED:
        return EXIT_PROVED if found.verdict is gopfast.Verdict.PROVED else EXIT_BEATEN
    _warn_of_limit(options, found.result.status, "the fit", found.gap)
    return EXIT_INTERRUPTED if found.result.status is Status.INTERRUPTED else EXIT_LIMIT


def check(options):
    """Check a proof."""
    try:
        proof = Path(options.proof).read_bytes()
    except OSError as error:
        raise InputError(f"{options.proof}: {error.strerror}") from None
    try:
        data, line = _data_of_proof(options, read_proof(proof)[0])
        found = gopfast.check(proof, data)
    except gopfast.ProofError as error:
        print(f"{shown(options.proof)}: the proof does not hold; {error}")
        return EXIT_BEATEN
    if isinstance(found, gopfast.Checked):
        line += "\nproof of: " + ", ".join(f"{name} {value}" for name, value in found.problem.items())
    print(f"{line}\n{found}")
    for name, value in found.solution.items():
        print(f"  {name:<14} {value}")
    return EXIT_PROVED


def _data_of_proof(options, header):
    """Read the data as the command did that wrote the proof; with a line that says which they are."""
    if Path(options.data).suffix.lower() in PROBLEM_SUFFIXES:
        problem = _read_problem(options.data)
        return problem, f"{shown(options.data)}: {problem!r}"
    said = header["problem"] if isinstance(header.get("problem"), dict) else {}
    family = said.get("family")
    if options.missing is not None and family != "labels":
        raise InputError("--missing must not be given with a proof that is not of latent classes")
    if options.response is None:
        for flag, name in PLACES[:-1]:
            if getattr(options, name) is not None:
                raise InputError(f"{flag} must not be given without --response")
    if family not in ("labels", "mixed"):
        table = _read_table(options)
        return table.data, _data_line(options, table)
    if options.response is not None:
        raise InputError("--response must not be given with a proof of columns of different kinds, or of labels")
    options.na = "drop" if options.na == "drop" else "keep"
    table = _read_labels(options, options.columns or _names_of(said), whole=family == "labels")
    codes = set(_codes(options.missing) or ())
    columns = ([None if entry in codes else entry for entry in column] for column in table.data.T)
    return dict(zip(table.columns, columns, strict=True)), _data_line(options, table)


def _names_of(said):
    """Return the columns that a proof names, if it names any."""
    names = said.get("columns")
    return names if isinstance(names, list) and names and all(isinstance(name, str) for name in names) else None


def compare(options):
    """Compare every local method with the proved optimum."""
    from gopfast import plot
    from gopfast.comparison import compare

    table, problem = _problem(options)
    with _Progress(options) as progress:
        found = compare(problem, options.starts, n_jobs=options.jobs, **_search(options), **progress.options)
    record = {"model": _record(problem), **_data_record(table), **found.to_dict()}
    _report(
        options, record, lambda: plot.local_optima(found.objectives, found.result),
        f"{_data_line(options, table)}\n{problem!r}\n{found}",
    )  # fmt: skip
    _warn_of_limit(options, found.result.status, "the best fit known", found.result.gap)
    return EXIT_INTERRUPTED if found.interrupted else _exit_code(found.result.status)


def select(options):
    """Choose the number of components and the kind of covariance."""
    _check_outputs(options)
    table = _read_table(options)
    given = {name: value for name, value in _given(options).items() if name != "n_components"}
    if options.response is not None:
        given = {"model": functools.partial(_regression, **given)}
    found = gopfast.select(
        table.data, options.sizes, options.criterion, covariances=options.covariances, **given, **_search(options),
        n_jobs=options.jobs, log=False if options.quiet else None,
    )  # fmt: skip
    record = {**_data_record(table), **found.to_dict()}
    text = f"{_data_line(options, table)}\n{found}\n{found.result.solution}"
    _report(options, record, found.plot, text, found.result)
    if found.interrupted:
        return EXIT_INTERRUPTED
    return EXIT_LIMIT if found.status == "UNDECIDED" else EXIT_PROVED


def kmeans(options):
    """Prove the best clusters of k-means."""
    _check_outputs(options)
    table = _read_table(options)
    problem = gopfast.KMeans(table.data, options.n_clusters)
    return _solve_partition(options, table, problem, {"n_clusters": problem.n_clusters}, "clusters")


def clusterwise(options):
    """Prove the best classes of regressions by least squares."""
    _check_outputs(options)
    table = _read_table(options)
    if len(table.columns) < 2:
        raise InputError(f"--response: {shown(options.data)} must have another column, that of a regressor")
    problem = gopfast.ClusterwiseRegression(
        table.data[:, :-1], table.data[:, -1], options.n_clusters, options.fit_intercept is not False
    )
    model = {
        "n_clusters": problem.n_clusters, "fit_intercept": problem.fit_intercept, "response": table.columns[-1]
    }  # fmt: skip
    return _solve_partition(options, table, problem, model, "classes")


def _solve_partition(options, table, problem, model, parts):
    """Solve a problem of hard clusters or classes, named `parts`; write and print its result. Returns the exit code."""
    with _Progress(options) as progress:
        result = gopfast.solve(
            problem, rel_tol=options.rel_tol, time_limit=options.time_limit, n_threads=options.threads,
            **progress.options, proof=options.proof,
        )  # fmt: skip
    record = {"model": model, **_data_record(table), **result.to_dict()}
    _report(options, record, result.plot, f"{_data_line(options, table)}\n{problem!r}\n{result}", result)
    if result.status is Status.TIME_LIMIT:
        _warn(
            f"not proved: the time limit of {options.time_limit:g} s came first; the {result._objective_label} is "
            f"proved to be at most {result.rel_gap:.3g} of itself above the least. Give more time (--time-limit "
            f"{max(600.0, 10.0 * options.time_limit):g}, or none), a larger --rel-tol or fewer {parts}"
        )
    return _exit_code(result.status)


def classes(options):
    """Prove the best latent classes of a table of labels."""
    _check_outputs(options)
    table = _read_labels(options, options.columns)
    problem = gopfast.LatentClass(
        table.data, options.n_classes, missing=_codes(options.missing), prior=options.prior, columns=table.columns
    )
    model = {"n_classes": problem.n_components, "prior": problem.prior}
    return _solve_labels(options, table, problem, model, lambda result: f"\n{problem.fit_statistics(result)}")


def mixed(options):
    """Prove the best fit of columns of different kinds."""
    _check_outputs(options)
    given = [_kind(column) for column in options.columns or ()]
    table = _read_labels(options, [name for name, _ in given] or None, whole=False)
    kinds = [kind for _, kind in given] or [None] * len(table.columns)
    problem = gopfast.MixedMixture(
        dict(zip(table.columns, kinds, strict=True)), dict(zip(table.columns, table.data.T, strict=True)),
        options.n_components, variance_floor=options.variance_floor,
    )  # fmt: skip
    model = {"n_components": problem.n_components, "kinds": dict(zip(table.columns, problem.kinds, strict=True))}
    return _solve_labels(options, table, problem, model | {"variance_floor": to_json_types(problem.variance_floor)})


def _kind(column):
    """Cut NAME=KIND; without a kind, which may be part of a name, it is None: by the column's entries."""
    name, sign, kind = column.rpartition("=")
    if not sign:
        return column, None
    if kind.strip() not in KINDS:
        raise InputError(f"--columns: the kind of {name.strip()!r} must be one of {', '.join(KINDS)}; got {kind!r}")
    return name.strip(), kind.strip()


def _read_labels(options, columns, whole=True):
    """Read labels, or labels and numbers."""
    header = None if options.header is None else options.header == "yes"
    return read_labels(
        options.data, columns, separator=options.separator, decimal=options.decimal, header=header, na=options.na,
        whole=whole,
    )  # fmt: skip


def _solve_labels(options, table, problem, model, more=lambda result: ""):
    """Solve a problem of labels, write and print its result; `more` is said in a summary. Returns the exit code."""
    with _Progress(options) as progress:
        result = gopfast.solve(problem, **_search(options), **progress.options, proof=options.proof)
    levels = {"categories": [to_json_types(levels) for levels in problem.categories]}
    record = {"model": model, **_data_record(table), **levels, **result.to_dict()}
    text = f"{_data_line(options, table)}\n{problem!r}\n{result}"
    if options.summary:
        text = f"{text}\n{result.summary()}{more(result)}"
    _report(options, record, result.plot, text, result)
    _warn_of_limit(options, result.status, "the fit", result.gap)
    return _exit_code(result.status)


def _codes(missing):
    """Return codes of missing entries as text and, those that are numbers, as these: columns have either."""
    return None if missing is None else [*missing, *(value for code in missing if (value := number(code)) is not None)]


def solve(options):
    """Prove the optimum of a biconvex problem."""
    for path in (options.json, options.proof, options.checkpoint):
        _check_writable(path, options.problem, "the problem")
    problem = _read_problem(options.problem)
    with _Progress(options) as progress, _workers(options) as executor:
        result = gopfast.solve(
            problem, **_search(options), rel_tol=options.rel_tol, **progress.options, proof=options.proof,
            max_nodes=options.max_nodes, **_long(options, executor),
        )  # fmt: skip
    return _report_solve(options, problem, result)


def _report_solve(options, problem, result):
    """Write and print the solution of a biconvex problem; return the exit code."""
    path = getattr(options, "problem", None) or options.data
    _report(options, result.to_dict(), None, f"{shown(path)}: {problem!r}\n{result}")
    if result.status is Status.TIME_LIMIT:
        _warn(
            f"not proved: the time limit of {options.time_limit:g} s came first; the bounds are proved. Give more time "
            f"(--time-limit {max(600.0, 10.0 * options.time_limit):g}, or none) or a larger --epsilon or --rel-tol"
        )
    if result.status in (Status.INFEASIBLE, Status.UNBOUNDED):
        return EXIT_PROVED
    return _exit_code(result.status)


def _problem(options, in_chunks=False):
    """Read the data and make their problem, once what is asked for can be written."""
    _check_outputs(options)
    table = _read_table(options, in_chunks=in_chunks)
    _check_labels(options, table)
    if options.response is not None:
        make = gopfast.RegressionMixture
    else:
        make = gopfast.GaussianMixture if table.n_rows is None else gopfast.data.LargeGaussianMixture
    problem = make(table.data, **_model(options))
    problem.__setstate__({"columns": table.columns})  # of X, which has no names
    if options.data != STANDARD_INPUT:
        said = {name: getattr(options, name) for name in READING} | {"data": os.path.abspath(options.data)}
        problem.__setstate__({READ_FROM: said})
    return table, problem


def _check_labels(options, table):
    """Fail where labels of samples that stay in their file are asked for."""
    if table.n_rows is not None and getattr(options, "labels", None):
        raise InputError(f"--labels: {shown(options.data)} is read in chunks; write the fit with --json, and predict")


def _read_problem(path):
    """Read a biconvex problem."""
    try:
        return polynomial.read(path)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None


def _read_table(options, columns=None, in_chunks=False):
    """Read the data; notes what a user should know of them."""
    if Path(options.data).suffix.lower() in BINARY_SUFFIXES:
        return _with_response(options, read_binary(options.data, options.columns or columns, in_chunks))
    header = None if options.header is None else options.header == "yes"
    table = read(
        options.data, options.columns or columns, separator=options.separator, decimal=options.decimal,
        header=header, na=options.na,
    )  # fmt: skip
    for name in table.counters:
        _warn(f"column {name!r} only counts the lines; if it is no measurement, leave it out with --columns")
    return _with_response(options, table)


def _with_response(options, table):
    """Put the response of regressions last, and trials and offset before it."""
    if options.response is None:
        return table
    if table.n_rows is not None:
        raise InputError(f"--response: {shown(options.data)} has too many rows, and is read in chunks")
    last = []
    for flag, name in PLACES:
        if getattr(options, name, None) is not None:
            last.append((name, _place(flag, getattr(options, name), table.columns)))
    places = [at for _, at in last]
    if len(set(places)) < len(places):
        raise InputError("--response, --trials, --offset and --groups must be columns of their own")
    order = [*(j for j in range(len(table.columns)) if j not in places), *places]
    for name, at in last[:-1]:  # as the problem takes them
        setattr(options, name, str(order.index(at) + 1))
    for i, shared in enumerate(getattr(options, "shared_coefficients", None) or ()):
        if shared == "intercept":
            continue
        at = _place("--shared-coefficient", shared, table.columns)
        if at in places:
            raise InputError(f"--shared-coefficient must be a regressor; {table.columns[at]!r} is none")
        options.shared_coefficients[i] = order.index(at)  # by its number among the regressors
    return table._replace(data=table.data[:, order], columns=tuple(table.columns[j] for j in order))


def _place(flag, column, names):
    """Return the place of a column, from 0, which is given by its name or counted from 1."""
    if column in names:
        return names.index(column)
    if column.isdecimal() and 1 <= int(column) <= len(names):
        return int(column) - 1
    raise InputError(f"{flag}: there is no column {column!r}; there are {', '.join(names)}")


def _data_line(options, table):
    """Say which data were read, and how."""
    n, details = table.n_samples, f" ({', '.join(table.details)})" if table.details else ""
    samples = f"{n:,} sample{'s' if n != 1 else ''}"
    return f"{shown(options.data)}: {samples}, columns {', '.join(table.columns)}{details}"


def _data_record(table):
    return {"columns": list(table.columns), "n_samples": table.n_samples, "n_dropped": table.n_dropped}


def _report(options, record, draw, text, result=None):
    """
    Write the files, then print; what could not be written is told at the end, as the search is done.

    Files come first: the reader of the output may have gone.
    """
    failures = []
    if options.json == STANDARD_OUTPUT:
        print(_json_text(record), flush=True)
    elif options.json:
        _try_to_write(options.json, lambda: _write_json(options.json, record), failures)
    if draw is not None and options.plot:
        _try_to_write(options.plot, lambda: draw().figure.savefig(options.plot, dpi=150), failures)
    if getattr(options, "labels", None):
        _try_to_write(options.labels, lambda: _write_labels(options.labels, result), failures)
    print(text, file=sys.stderr if options.json == STANDARD_OUTPUT else sys.stdout, flush=True)
    if failures:
        raise InputError("; ".join(failures))


def _try_to_write(path, write, failures):
    try:
        write()
    except OSError as error:
        failures.append(f"{path}: {error.strerror}")


def _warn(text):
    print(f"gopfast: warning: {text}", file=sys.stderr)


def _warn_of_limit(options, status, which, gap):
    """Say what is proved if time ran out, and what to do."""
    if status is Status.TIME_LIMIT:
        _warn(
            f"not proved: the time limit of {options.time_limit:g} s came first; {which} is proved to be at most "
            f"{gap:.3g} nats above the optimum{_asked(options)}. Give more time (--time-limit "
            f"{max(600.0, 10.0 * options.time_limit):g}, or none), a larger --epsilon or fewer components"
        )


def _asked(options):
    """Say what gap was asked for; a search that goes on has that of its checkpoint."""
    return f", asked was {options.epsilon:g}" if hasattr(options, "epsilon") else ""


class _Progress:
    """A line that is rewritten on a terminal, a table in a log; on standard error."""

    def __init__(self, options):
        self.live = sys.stderr.isatty()
        self.next_time, self.written = 0.0, False
        if options.quiet:
            self.options = {"log": False}
        elif self.live:
            self.options = {"callback": self.update, "log": False}
        else:
            self.options = {"log": sys.stderr}

    def update(self, state):
        """Rewrite the line; the callback of `gopfast.solve`."""
        if state.time >= self.next_time:
            self.next_time, self.written = state.time + LIVE_INTERVAL, True
            text = live_line(state)[: shutil.get_terminal_size().columns - 1]
            sys.stderr.write(f"\r\x1b[K{text}")
            sys.stderr.flush()

    def __enter__(self):
        # The first bounds of a large file take seconds.
        if self.live and "callback" in self.options:
            self.written = True
            sys.stderr.write("\r\x1b[Klocal search ...")
            sys.stderr.flush()
        return self

    def __exit__(self, *error):
        if self.written:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def live_line(state) -> str:
    """Return the progress as one line: bounds, gap, open nodes, nodes per second."""
    speed = state.n_nodes / state.time if state.time > 0.0 else 0.0
    return (
        f"bounds {state.lower:.7g} .. {state.upper:.7g}  gap {state.gap:.3g}  {state.n_open:,} open  "
        f"{state.n_nodes:,} nodes ({speed:,.0f}/s)  {state.time:.1f} s"
    )


def _exit_code(status):
    if status is Status.INTERRUPTED:
        return EXIT_INTERRUPTED
    return EXIT_PROVED if status is Status.OPTIMAL else EXIT_LIMIT


def _search(options):
    return {"epsilon": options.epsilon, "time_limit": options.time_limit, "n_threads": options.threads}


def _given(options):
    """Return the arguments of the model that the command line gives."""
    names, others = MODEL_NAMES, OF_REGRESSIONS
    if options.response is not None:
        names, others = dict.fromkeys((*REGRESSION_NAMES, *COUNT_NAMES)), NOT_OF_REGRESSIONS
    for name in others:
        if getattr(options, name, None) is not None:
            flag = {"fit_intercept": "--no-intercept", "covariances": "--covariance", "n_trials": "--trials",
                    "shared_coefficients": "--shared-coefficient"}.get(  # fmt: skip
                name, f"--{name.replace('_', '-')}"
            )
            raise InputError(f"{flag} must not be given {'without' if options.response is None else 'with'} --response")
    return {name: getattr(options, name) for name in names if getattr(options, name, None) is not None}


def _model(options):
    """Return the arguments of the model."""
    return _given(options)


def _model_of(record, options):
    """Return the arguments of the model of a record, as the command line changes them."""
    solution = record.get("solution", record)
    if not isinstance(solution, dict) or not isinstance(solution.get("weights"), list):
        raise InputError(f'{options.fit}: there are no "weights"; it must be a fit')
    model = record.get("model", {})
    names = MODEL_NAMES if options.response is None else dict.fromkeys((*REGRESSION_NAMES, *COUNT_NAMES, "response"))
    if not isinstance(model, dict) or model.keys() - set(names):
        raise InputError(f'{options.fit}: "model" must be an object with {", ".join(names)}')
    model = {name: value for name, value in model.items() if value is not None and name != "response"}
    if options.response is not None:
        return {"n_components": len(solution["weights"]), **model, **_given(options)}
    kind = Diagonal if "covariances" in solution else Known
    default = {"n_components": len(solution["weights"]), "covariance": kind.name}
    return {**default, **model, **_given(options)}


def _record(problem):
    if isinstance(problem, gopfast.RegressionMixture):
        names = REGRESSION_NAMES if problem.family == "normal" else COUNT_NAMES
        record = {name: to_json_types(getattr(problem, name)) for name in names}
        places, p = problem._shared_places, problem.regressors.shape[1]
        # by number, as names are those of the file
        record["shared_coefficients"] = [place if place < p else "intercept" for place in places] or None
        return {**record, "response": problem.column_names[-1]}
    return {name: to_json_types(getattr(problem, name)) for name in MODEL_NAMES}


def _regression(X, n_components, **model):
    """Make a mixture of regressions of a table whose last column is the response."""
    return gopfast.RegressionMixture(X, n_components=n_components, **model)


def _read_json(path):
    text = "\n".join(read_lines(path))
    path = shown(path)
    try:
        record = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{path}, line {error.lineno}: not JSON; {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: no fit; {error}") from None
    if not isinstance(record, dict):
        raise InputError(f"{path}: must be a JSON object; got {type(record).__name__}")
    return record


def _json_text(record):
    return json.dumps(record, indent=2, allow_nan=False)


def _write_json(path, record):
    Path(path).write_text(_json_text(record) + "\n", encoding="utf-8")


def _write_labels(path, result):
    """Write each sample's most probable component and the probabilities of all."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        if isinstance(result, PartitionResult):
            rows.writerow(["cluster" if isinstance(result, ClusteringResult) else "class"])
            rows.writerows([int(label)] for label in result.labels)
            return
        tau = result.predict_proba()
        rows.writerow(["component", *(f"p{k}" for k in range(tau.shape[1]))])
        rows.writerows([int(row.argmax()), *(f"{p:.6g}" for p in row)] for row in tau)


def _check_outputs(options):
    """Fail before the search, not after it."""
    for name in ("json", "plot", "proof", "labels", "checkpoint"):
        _check_writable(getattr(options, name, None), options.data, "the data")
    if options.plot:
        if importlib.util.find_spec("matplotlib") is None:
            raise InputError("--plot needs matplotlib: pip install 'gopfast[plot]'")
        import matplotlib
        from matplotlib.figure import Figure

        matplotlib.use("Agg")
        known = Figure().canvas.get_supported_filetypes()
        if Path(options.plot).suffix[1:].lower() not in known:
            raise InputError(f"--plot must end with one of {', '.join(sorted(known))}; got {options.plot}")


def _check_writable(path, source, what):
    """Fail where a file cannot be written, or is what was read; `what` that is."""
    if not path or path == STANDARD_OUTPUT:
        return
    there = os.path.exists(path)
    if os.path.isdir(path) or not os.access(path if there else Path(path).resolve().parent, os.W_OK):
        raise InputError(f"{path}: cannot be written")
    if there and os.path.exists(source) and os.path.samefile(path, source):
        raise InputError(f"{path}: the result would overwrite {what}")


if __name__ == "__main__":
    sys.exit(main())
