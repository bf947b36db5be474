"""The command ``gopfast``."""

import argparse
import importlib.util
import json
import os
import shutil
import sys
from pathlib import Path

import gopfast
from gopfast import _table
from gopfast.errors import InputError
from gopfast.models.gaussian import COVARIANCES
from gopfast.result import Status
from gopfast.solution import to_json_types

EXIT_PROVED, EXIT_LIMIT, EXIT_WRONG, EXIT_BEATEN, EXIT_INTERRUPTED, EXIT_UNREAD = 0, 1, 2, 3, 130, 141
EXIT_CODES = """exit codes:
  0    proved
  1    a limit came first: the bounds printed are proved, no more
  2    wrong usage or input
  3    certify only: the fit is beaten
  130  interrupted by Ctrl-C; what was reached is printed
  141  the reader of the output, such as head, has gone"""
FIT_EXAMPLES = """examples:
  gopfast fit galaxies.csv -k 3
  gopfast fit faithful.csv -k 2 --columns eruption_min,waiting_min --time-limit 60 --json fit.json
  gopfast fit minimal.csv -k 2 --prior empirical --epsilon 0.001 --plot bounds.png"""
CERTIFY_EXAMPLES = """examples:
  gopfast certify galaxies.csv fit.json
  gopfast certify galaxies.csv other.json --covariance diag --variance-floor 0.09

fit.json is what `gopfast fit --json` writes, or any JSON object with "weights", "means" and, with estimated
variances, "covariances"."""
COMPARE_EXAMPLES = """examples:
  gopfast compare galaxies.csv -k 3
  gopfast compare minimal.csv -k 2 --prior empirical --starts 20 --json comparison.json"""
# What a record says of its model; the arguments of GaussianMixture.
MODEL_NAMES = (
    "n_components", "covariance", "variance_floor", "prior", "posterior", "noise_variance", "prior_variance_bounds",
)  # fmt: skip
LIVE_INTERVAL = 0.1  # seconds


def main(arguments=None) -> int:
    """
    Run the command.

    Parameters
    ----------
    arguments : list of str, optional
        By default those of the process.

    Returns
    -------
    int
        Exit code: 0 proved, 1 limit reached, 2 wrong usage or input, 3 beaten, 130 interrupted, 141 output not read.
    """
    parser = _parser()
    try:
        options = parser.parse_args(arguments)
    except SystemExit as stop:
        return int(stop.code or 0)
    try:
        return options.run(options)
    except (InputError, NotImplementedError, ImportError) as error:
        print(f"gopfast: error: {error}", file=sys.stderr)
        return EXIT_WRONG
    except KeyboardInterrupt:
        print("gopfast: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader has gone; without this Python complains once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_UNREAD


def fit(options):
    """Prove the best fit of a mixture."""
    _check_outputs(options)
    table = _table.read(options.data, options.columns)
    problem = gopfast.GaussianMixture(table.data, **_model(options))
    with _Progress(options) as progress:
        result = gopfast.solve(problem, **_search(options), **progress.options)
    # Files first: the reader of the output may have gone.
    if options.json:
        record = {"model": _record(problem), "columns": list(table.columns), **result.to_dict()}
        _write_json(options.json, record)
    if options.plot:
        result.plot().figure.savefig(options.plot, dpi=150)
    print(f"{options.data}: columns {', '.join(table.columns)}\n{problem!r}\n{result}")
    return _exit_code(result.status)


def certify(options):
    """Prove or beat a fit."""
    record = _read_json(options.fit)
    table = _table.read(options.data, options.columns or record.get("columns"))
    problem = gopfast.GaussianMixture(table.data, **_model_of(record, options))
    with _Progress(options) as progress:
        found = gopfast.certify(problem, record, **_search(options), **progress.options)
    print(found)
    if found.verdict is not gopfast.Verdict.UNDECIDED:
        return EXIT_PROVED if found.verdict is gopfast.Verdict.PROVED else EXIT_BEATEN
    return EXIT_INTERRUPTED if found.result.status is Status.INTERRUPTED else EXIT_LIMIT


def compare(options):
    """Compare every local method with the proved optimum."""
    from gopfast import plot
    from gopfast.comparison import compare

    _check_outputs(options)
    table = _table.read(options.data, options.columns)
    problem = gopfast.GaussianMixture(table.data, **_model(options))
    with _Progress(options) as progress:
        found = compare(problem, options.starts, **_search(options), **progress.options)
    if options.json:
        _write_json(options.json, {"model": _record(problem), "columns": list(table.columns), **found.to_dict()})
    if options.plot:
        plot.local_optima(found.objectives, found.result).figure.savefig(options.plot, dpi=150)
    print(found)
    return EXIT_INTERRUPTED if found.interrupted else _exit_code(found.result.status)


class _Progress:
    """A line that is rewritten on a terminal, a table in a log; on standard error."""

    def __init__(self, options):
        self.live = sys.stderr.isatty()
        self.next_time, self.written = 0.0, False
        if options.quiet:
            self.options = {}
        elif self.live:
            self.options = {"callback": self.update}
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
        if self.live and self.options:
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
    return {name: getattr(options, name) for name in MODEL_NAMES if getattr(options, name, None) is not None}


def _model(options):
    """Return the arguments of the model; its default covariance follows from the others."""
    given = _given(options)
    known = given.keys() & {"prior", "posterior", "noise_variance"}
    return {"covariance": "known" if known else "diag", **given}


def _model_of(record, options):
    """Return the arguments of the model of a record, as the command line changes them."""
    solution = record.get("solution", record)
    if not isinstance(solution, dict) or not isinstance(solution.get("weights"), list):
        raise InputError(f'{options.fit}: there are no "weights"; it must be a fit')
    model = record.get("model", {})
    if not isinstance(model, dict) or model.keys() - set(MODEL_NAMES):
        raise InputError(f'{options.fit}: "model" must be an object with {", ".join(MODEL_NAMES)}')
    model = {name: value for name, value in model.items() if value is not None}
    default = {"n_components": len(solution["weights"]), "covariance": "diag" if "covariances" in solution else "known"}
    return {**default, **model, **_given(options)}


def _record(problem):
    return {name: to_json_types(getattr(problem, name)) for name in MODEL_NAMES}


def _read_json(path):
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: not a text file in UTF-8") from None
    except json.JSONDecodeError as error:
        raise InputError(f"{path}, line {error.lineno}: not JSON; {error.msg}") from None
    if not isinstance(record, dict):
        raise InputError(f"{path}: must be a JSON object; got {type(record).__name__}")
    return record


def _write_json(path, record):
    Path(path).write_text(json.dumps(record, indent=2, allow_nan=False) + "\n", encoding="utf-8")


def _check_outputs(options):
    """Fail before the search, not after it."""
    for path in filter(None, (options.json, options.plot)):
        if Path(path).is_dir() or not os.access(Path(path).resolve().parent, os.W_OK):
            raise InputError(f"{path}: cannot be written")
    if options.plot:
        if importlib.util.find_spec("matplotlib") is None:
            raise InputError("--plot needs matplotlib: pip install 'gopfast[plot]'")
        import matplotlib
        from matplotlib.figure import Figure

        matplotlib.use("Agg")
        known = Figure().canvas.get_supported_filetypes()
        if Path(options.plot).suffix[1:].lower() not in known:
            raise InputError(f"--plot must end with one of {', '.join(sorted(known))}; got {options.plot}")


def _parser():
    parser = argparse.ArgumentParser(
        prog="gopfast",
        description="Mixture models with a proof: the best fit there is, or how far from it you are.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"gopfast {gopfast.__version__}")
    commands = parser.add_subparsers(required=True, metavar="command")

    command = _add(commands, "fit", fit, "find the proved best fit of a Gaussian mixture", FIT_EXAMPLES)
    _add_model(command, needs_k=True)
    _add_search(command)
    _add_outputs(command, "the bounds against time")

    command = _add(commands, "certify", certify, "prove that a fit is globally optimal, or beat it", CERTIFY_EXAMPLES)
    command.add_argument("fit", metavar="fit.json", help="the fit")
    _add_model(command, needs_k=False)
    _add_search(command)

    command = _add(
        commands, "compare", compare, "run every local method against the proved optimum", COMPARE_EXAMPLES
    )
    _add_model(command, needs_k=True)
    command.add_argument("--starts", type=int, default=100, metavar="N", help="runs of each method (default: 100)")
    _add_search(command)
    _add_outputs(command, "where the runs ended")
    return parser


def _add(commands, name, run, what, examples):
    command = commands.add_parser(
        name,
        help=what,
        description=f"{what[0].upper()}{what[1:]}.",
        epilog=f"{examples}\n\n{EXIT_CODES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.set_defaults(run=run)
    command.add_argument("data", metavar="data.csv", help="numbers, one sample per line, with or without a header")
    command.add_argument(
        "--columns", type=_names, metavar="A,B", help="columns to use, by name or by place from 1 (default: all)"
    )
    return command


def _add_model(command, needs_k):
    model = command.add_argument_group("model")
    model.add_argument(
        "-k", "--components", dest="n_components", type=int, required=needs_k, metavar="K",
        help="number of components",
    )  # fmt: skip
    model.add_argument(
        "--covariance", choices=COVARIANCES,
        help="which variances are estimated (default: diag; known with --prior, --posterior or --noise-variance)",
    )  # fmt: skip
    model.add_argument(
        "--variance-floor", type=_numbers, metavar="V",
        help="least variance, one or one per column (default: 0.05 standard deviations, squared)",
    )  # fmt: skip
    model.add_argument(
        "--noise-variance", type=_numbers, metavar="V", help="the known variance, one or one per column (default: 1)"
    )
    model.add_argument("--prior", type=_prior, metavar="P", help="prior variance of the means: a number or empirical")
    model.add_argument("--posterior", choices=("point", "gaussian"), help="posterior of the means (default: point)")


def _add_search(command):
    search = command.add_argument_group("search")
    search.add_argument("--epsilon", type=float, default=0.01, metavar="E", help="absolute gap, in nats (0.01)")
    search.add_argument("--time-limit", type=float, metavar="S", help="seconds (default: none)")
    search.add_argument("--threads", type=int, metavar="N", help="threads (default: one per processor)")
    search.add_argument("-q", "--quiet", action="store_true", help="print no progress")


def _add_outputs(command, what):
    outputs = command.add_argument_group("output")
    outputs.add_argument("--json", metavar="FILE", help="write the result as JSON")
    outputs.add_argument("--plot", metavar="FILE", help=f"draw {what}: a file such as bounds.png")


def _names(text):
    return [name.strip() for name in text.split(",")]


def _numbers(text):
    try:
        values = [float(value) for value in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number or several with commas") from None
    return values[0] if len(values) == 1 else values


def _prior(text):
    try:
        return text if text == "empirical" else float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number nor 'empirical'") from None


if __name__ == "__main__":
    sys.exit(main())
