"""The arguments of the command ``gopfast``."""

import argparse
import csv

import gopfast
from gopfast.mixtures.problems.covariance import KINDS
from gopfast.mixtures.problems.covariance_names import NEAREST, OF_MCLUST
from gopfast.mixtures.problems.mixed_table import KINDS as COLUMN_KINDS
from gopfast.options import FLAGS
from gopfast.tuning import MOST_SIZES, SELECT_EPSILON, TIME_LIMIT

EXIT_CODES = """exit codes:
  0    proved
  1    a limit came first, by default 60 s: the bounds printed are proved, no more
  2    wrong usage or input, or an output that cannot be written
  3    certify: the fit is beaten; check: the proof does not hold
  130  interrupted by Ctrl-C; what was reached is printed
  141  the reader of the output, such as head, has gone"""
FIT_EXAMPLES = """examples:
  gopfast fit galaxies.csv -k 3
  gopfast fit faithful.csv -k 2 --columns eruption_min,waiting_min --time-limit 60 --json fit.json
  gopfast fit minimal.csv -k 2 --prior empirical --epsilon 0.001 --plot bounds.png
  gopfast fit co2.csv -k 2 --response CO2 --summary --plot bounds.png
  gopfast fit messwerte.csv -k 3 --decimal , --na drop --time-limit none
  zcat data.csv.gz | gopfast fit - -k 3 --json - > fit.json
  gopfast fit big.npy -k 3 --checkpoint big.checkpoint --memory-limit 2GB --workers 2"""
SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "pipe": "|", "blank": " ", "space": " "}
CERTIFY_EXAMPLES = """examples:
  gopfast certify galaxies.csv fit.json
  gopfast certify galaxies.csv other.json --covariance diag --variance-floor 0.09

fit.json is what `gopfast fit --json` writes, or any JSON object with "weights", "means" and, with estimated
variances, "covariances"."""
RESUME_EXAMPLES = """examples:
  gopfast fit galaxies.csv -k 6 --checkpoint galaxies.checkpoint --time-limit 600
  gopfast resume galaxies.checkpoint --time-limit none
  gopfast resume galaxies.checkpoint elsewhere/galaxies.csv
  gopfast solve problem.json --checkpoint problem.checkpoint
  gopfast resume problem.checkpoint problem.json

SIGTERM ends a search that has a checkpoint with its bounds, and writes one."""
CHECK_EXAMPLES = """examples:
  gopfast fit galaxies.csv -k 3 --proof proof.npz
  gopfast check proof.npz galaxies.csv
  gopfast regress co2.csv -k 2 --response CO2 --proof proof.npz
  gopfast check proof.npz co2.csv --response CO2
  gopfast regress visits.csv -k 3 --response visits --family poisson --offset log_hours --proof proof.npz
  gopfast check proof.npz visits.csv --response visits --offset log_hours
  gopfast mixed customers.csv -k 2 --columns age=normal,smokes=binary --proof proof.npz
  gopfast check proof.npz customers.csv
  gopfast solve problem.json --proof proof.npz
  gopfast check proof.npz problem.json"""
COMPARE_EXAMPLES = """examples:
  gopfast compare galaxies.csv -k 3
  gopfast compare minimal.csv -k 2 --prior empirical --starts 20 --json comparison.json"""
SELECT_EXAMPLES = """examples:
  gopfast select galaxies.csv
  gopfast select faithful.csv -k 1-4 --covariance diag,tied --time-limit 600 --json choice.json
  gopfast select galaxies.csv -k 2,3,4 --criterion icl --jobs 2 --plot choice.png"""
KMEANS_EXAMPLES = """examples:
  gopfast kmeans faithful.csv -k 3
  gopfast kmeans data.csv -k 5 --columns length,width --rel-tol 0.001 --labels clusters.csv --json clusters.json"""
CLASSES_EXAMPLES = """examples:
  gopfast classes answers.csv -k 2
  gopfast classes answers.csv -k 3 --columns q1,q2,q3,q4 --missing 9 --summary --labels classes.csv"""
MIXED_EXAMPLES = """examples:
  gopfast mixed customers.csv -k 2
  gopfast mixed customers.csv -k 3 --columns age=normal,smokes=binary,visits=poisson --summary --labels segments.csv"""
REGRESS_EXAMPLES = """examples:
  gopfast regress co2.csv -k 2 --response CO2
  gopfast regress patients.csv -k 2 --response score --groups patient --variance shared --summary
  gopfast regress visits.csv -k 3 --response visits --family poisson --offset log_hours --labels classes.csv"""
CLUSTERWISE_EXAMPLES = """examples:
  gopfast clusterwise co2.csv -k 2 --response CO2
  gopfast clusterwise data.csv -k 3 --response y --columns y,x1,x2 --rel-tol 0.001 --labels classes.csv"""
SOLVE_EXAMPLES = """examples:
  gopfast solve pooling.lp
  gopfast solve model.mps --time-limit none --rel-tol 1e-4 --json result.json
  gopfast solve problem.json --epsilon 0.01 -q

.json files are those of BiconvexProblem.from_json and PolynomialProblem.to_json, .nl files AMPL's, with products of any
number of variables, powers and quotients; the others are read by SCIP: pip install 'gopfast[files]'."""


def parser(
    fit, resume, certify, compare, select, solve, check, kmeans, classes, mixed, regress, clusterwise
) -> argparse.ArgumentParser:
    """
    Return the parser of the command.

    Parameters
    ----------
    fit, resume, certify, compare, select, solve, check, kmeans, classes, mixed, regress, clusterwise : callable
        What runs each, with the options; the parser sets it as ``options.run``.

    Returns
    -------
    argparse.ArgumentParser
    """
    parser = argparse.ArgumentParser(
        prog="gopfast",
        description="Mixture models and biconvex problems with a proof: the best there is, or how far from it you are.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"gopfast {gopfast.__version__}")
    commands = parser.add_subparsers(required=True, metavar="command")

    command = _add(commands, "fit", fit, "the proved best fit of a Gaussian mixture or of regressions", FIT_EXAMPLES)
    _add_model(command, needs_k=True)
    _add_proved_fit(command)

    command = _add(
        commands, "regress", regress, "find the proved best mixture of regressions", REGRESS_EXAMPLES, response=False
    )
    model = command.add_argument_group("model")
    _add_components(model, needs_k=True)
    _add_response(model, required=True)
    _add_variances(model)
    _add_regression(model)
    _add_proved_fit(command)

    command = _command(commands, "resume", resume, "go on with a search that was stopped", RESUME_EXAMPLES)
    command.add_argument("checkpoint", metavar="FILE", help="the checkpoint")
    _add_data(command, nargs="?")
    _add_reading(command)
    _add_limits(command)
    _add_long(command, but=("checkpoint",))
    _add_fit_outputs(command)

    command = _add(commands, "certify", certify, "prove that a fit is globally optimal, or beat it", CERTIFY_EXAMPLES)
    command.add_argument("fit", metavar="fit.json", help="the fit")
    _add_model(command, needs_k=False)
    _add_search(command)

    command = _add(
        commands, "compare", compare, "run every local method against the proved optimum", COMPARE_EXAMPLES
    )
    _add_model(command, needs_k=True)
    command.add_argument("--starts", type=int, default=100, metavar="N", help="runs of each method (default: 100)")
    search = _add_search(command)
    search.add_argument("--jobs", type=int, metavar="N", help="local runs at a time, -1 for one per processor")
    _add_outputs(command, "where the runs ended")

    command = _add(
        commands, "select", select, "choose the number of components and the kind of covariance", SELECT_EXAMPLES
    )
    model = command.add_argument_group("models")
    model.add_argument(
        "-k", "--components", dest="sizes", type=_sizes, default=range(1, 7), metavar="K",
        help="numbers of components, such as 1-6 or 2,3,5 (default: 1-6)",
    )  # fmt: skip
    model.add_argument(
        "--covariance", "--covariance-type", dest="covariances", type=_names, metavar="A,B",
        help=f"kinds of covariance, of {', '.join(KINDS)} "
        "or mclust's names (default: all but known, where they differ)",
    )  # fmt: skip
    model.add_argument("--criterion", choices=("bic", "aic", "icl"), default="bic", help="least is best (default: bic)")
    _add_variances(model)
    _add_regression(model)
    search = _add_search(command, SELECT_EPSILON)
    search.add_argument("--jobs", type=int, metavar="N", help="searches at a time, -1 for one per processor")
    _add_labels(_add_outputs(command, "the criterion of every model"))

    _add_clusterwise(_add(
        commands, "clusterwise", clusterwise, "find the proved best classes of regressions by least squares",
        CLUSTERWISE_EXAMPLES, response=False,
    ))  # fmt: skip
    _add_kmeans(_add(
        commands, "kmeans", kmeans, "find the proved best clusters of k-means", KMEANS_EXAMPLES, response=False
    ))  # fmt: skip
    _add_classes(_add(
        commands, "classes", classes, "find the proved best latent classes of a table of labels", CLASSES_EXAMPLES,
        what="labels or codes", na="keep", response=False,
    ))  # fmt: skip
    _add_mixed(_add(
        commands, "mixed", mixed, "find the proved best mixture of columns of different kinds", MIXED_EXAMPLES,
        what="numbers and labels", na="keep", response=False,
        columns=f"columns to use, by name or by place from 1, each with =KIND where its entries do not tell it, of "
        f"{', '.join(COLUMN_KINDS)} (default: all; numbers are normal, else labels)",
    ))  # fmt: skip

    command = _command(commands, "solve", solve, "prove the optimum of a biconvex problem in a file", SOLVE_EXAMPLES)
    command.add_argument("problem", metavar="model.lp", help="a .lp, .mps, .nl or .json file; continuous variables")
    search = _add_limits(command)
    search.add_argument(
        "--epsilon", type=float, metavar="E", help="absolute gap (default: up to 1e-8 of the objective's coefficients)"
    )
    search.add_argument("--rel-tol", type=float, metavar="R", help="gap relative to the objective (default: 1e-6)")
    search.add_argument("--max-nodes", type=int, metavar="N", help="most nodes to bound")
    outputs = command.add_argument_group("output")
    _add_json(outputs)
    _add_proof(outputs)
    _add_long(command)
    command = commands.add_parser(
        "check", help="check a proof that --proof of another command wrote",
        description="Check a proof against the data, or the problem, with none of the code that made it.",
        epilog=f"{CHECK_EXAMPLES}\n\n{EXIT_CODES}", formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    command.set_defaults(run=check)
    command.add_argument("proof", metavar="FILE", help="the proof")
    _add_data(command, what="numbers, or of `gopfast mixed` and `classes` labels too")
    _add_missing(_add_reading(command))
    _add_places(command.add_argument_group("of regressions of counts, as the command that wrote the proof had them"))
    return parser


def _command(commands, name, run, what, examples):
    command = commands.add_parser(
        name,
        help=what,
        description=f"{what[0].upper()}{what[1:]}.",
        epilog=f"{examples}\n\n{EXIT_CODES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.set_defaults(run=run)
    return command


def _add(commands, name, run, summary, examples, what="numbers", **reading):
    command = _command(commands, name, run, summary, examples)
    _add_data(command, what=what)
    _add_reading(command, **reading)
    return command


def _add_proved_fit(command):
    """Add what the search and the outputs of a fit take that may have a proof and a checkpoint."""
    _add_search(command)
    outputs = _add_fit_outputs(command)
    _add_proof(outputs)
    _add_long(command)


def _add_kmeans(command):
    """Add what k-means takes beside the data."""
    model = command.add_argument_group("model")
    model.add_argument(
        "-k", "--clusters", dest="n_clusters", type=int, required=True, metavar="K", help="number of clusters"
    )
    _add_partition(command, "inertia", "cluster")


def _add_clusterwise(command):
    """Add what clusterwise least squares take beside the data."""
    model = command.add_argument_group("model")
    model.add_argument(
        "-k", "--clusters", dest="n_clusters", type=int, required=True, metavar="K", help="number of classes"
    )
    _add_response(model, required=True, what="in classes, by least squares")
    _add_no_intercept(model)
    _add_partition(command, "sum of squares", "class")


def _add_partition(command, objective, part):
    """Add the search and the outputs of a problem of hard clusters or classes."""
    search = _add_limits(command)
    search.add_argument(
        "--rel-tol", type=float, metavar="R", help=f"gap relative to the {objective} (default: that of gopfast.solve)"
    )
    outputs = _add_outputs(command, "the bounds against time")
    outputs.add_argument("--labels", metavar="FILE", help=f"write as CSV each sample's {part}")
    _add_proof(outputs)


def _add_classes(command):
    """Add what latent classes take beside the data."""
    model = command.add_argument_group("model")
    model.add_argument(
        "-k", "--classes", dest="n_classes", type=int, required=True, metavar="K", help="number of classes"
    )
    _add_missing(model)
    model.add_argument("--prior", type=float, metavar="P", help="parameter of the Dirichlet prior (default: none)")
    _add_search(command)
    _add_proof(_add_fit_outputs(command))


def _add_missing(group):
    group.add_argument(
        "--missing", type=_names, metavar="A,B", help="further codes of missing entries, such as 9 (default: none)"
    )


def _add_mixed(command):
    """Add what mixtures of columns of different kinds take beside the data."""
    model = command.add_argument_group("model")
    _add_components(model, needs_k=True)
    model.add_argument(
        "--variance-floor", type=_numbers, metavar="V", help="least variance, one or one per normal column"
    )
    _add_search(command)
    _add_proof(_add_fit_outputs(command))


def _add_data(command, nargs=None, what="numbers"):
    left_out = "" if nargs is None else "; left out: what `gopfast fit` has read, from where it was"
    command.add_argument(
        "data", metavar="data.csv", nargs=nargs,
        help=f"{what}, one sample per line, with or without a header; - for the standard input" + (
            "; also .npy and, with pyarrow, .parquet, of which more than a million rows are read in chunks"
            if what.startswith("numbers,") or what == "numbers" else ""
        ) + left_out,
    )  # fmt: skip


def _add_reading(command, na="refuse", columns=None, response=True):
    reading = command.add_argument_group("reading the data")
    reading.add_argument(
        "--columns", type=_names, metavar="A,B",
        help=columns or "columns to use, by name or by place from 1 (default: all)",
    )
    reading.add_argument(
        "--separator", type=_separator, metavar="C",
        help="what separates fields: a character, or tab or blank (default: what fits every line)",
    )  # fmt: skip
    reading.add_argument(
        "--decimal", choices=(".", ","), default=".", metavar="C", help="what marks decimals: . or , (default: .)"
    )
    reading.add_argument(
        "--header", choices=("yes", "no"), help="whether line 1 has names (default: if none of its fields is a number)"
    )
    reading.add_argument(
        "--na", choices=(na, "drop"), default=na,
        help=f"lines where a value is missing are {'kept' if na == 'keep' else 'an error'} or left out (default: {na})",
    )  # fmt: skip
    if response:
        _add_response(reading)
    else:
        command.set_defaults(response=None)
    return reading


def _add_response(command, required=False, what="a mixture of regressions"):
    command.add_argument(
        "--response", metavar="Y", required=required,
        help=f"the column, by name or by place from 1, that is regressed on the others: {what}",
    )  # fmt: skip


def _add_no_intercept(model):
    model.add_argument(
        "--no-intercept", dest="fit_intercept", action="store_const", const=False, help="regressions without intercept"
    )


def _add_regression(model):
    model.add_argument(
        "--variance", choices=("free", "shared"), help="of regressions: one for each component or one for all (free)"
    )
    _add_no_intercept(model)
    model.add_argument(
        "--family", choices=("normal", "poisson", "binomial"), help="of regressions: what responses are (normal)"
    )
    _add_places(model)
    model.add_argument(
        "--shared-coefficient", dest="shared_coefficients", metavar="X", action="append",
        help="the regressor, or intercept, whose coefficient all components share; several times for several",
    )  # fmt: skip


def _add_places(model):
    """Add the columns of regressions that are neither regressors nor the response."""
    model.add_argument("--trials", dest="n_trials", metavar="N", help="the column of trials, with --family binomial")
    model.add_argument(
        "--offset", metavar="O", help="the column that is added to linear predictors, with --family poisson or binomial"
    )
    model.add_argument(
        "--groups", metavar="G", help="the column of what rows belong to, as patients: one component each"
    )


def _add_model(command, needs_k):
    model = command.add_argument_group("model")
    _add_components(model, needs_k)
    model.add_argument(
        "--covariance", "--covariance-type", choices=(*KINDS, *OF_MCLUST, *NEAREST), metavar="KIND",
        help=f"which variances are estimated, of {', '.join(KINDS)} or mclust's names "
        "(default: diag; known with --prior, --posterior or --noise-variance)",
    )  # fmt: skip
    _add_variances(model)
    model.add_argument("--prior", type=_prior, metavar="P", help="prior variance of the means: a number or empirical")
    model.add_argument("--posterior", choices=("point", "gaussian"), help="posterior of the means (default: point)")
    _add_regression(model)


def _add_components(model, needs_k):
    model.add_argument(
        "-k", "--components", dest="n_components", type=int, required=needs_k, metavar="K", help="number of components"
    )


def _add_variances(model):
    model.add_argument(
        "--variance-floor", type=_numbers, metavar="V",
        help="least variance, one or one per column (default: the square of 0.05 standard deviations, less where "
        "local fits are narrow, or of half the step of rounded data)",
    )  # fmt: skip
    model.add_argument(
        "--noise-variance", type=_numbers, metavar="V", help="the known variance, one or one per column (default: 1)"
    )


def _add_search(command, epsilon=0.01):
    search = _add_limits(command)
    search.add_argument(
        "--epsilon", type=float, default=epsilon, metavar="E", help=f"absolute gap, in nats ({epsilon:g})"
    )
    return search


def _add_limits(command):
    search = command.add_argument_group("search")
    search.add_argument(
        "--time-limit", type=_seconds, default=TIME_LIMIT, metavar="S", help="seconds, or none (default: 60)"
    )
    search.add_argument("--threads", type=int, metavar="N", help="threads (default: one per processor)")
    search.add_argument("-q", "--quiet", action="store_true", help="print no progress")
    return search


def _add_long(command, but=()):
    """Add what searches of hours need."""
    long = command.add_argument_group("long searches")
    for name, flag in FLAGS.items():
        if name not in but:
            long.add_argument(f"--{name.replace('_', '-')}", **flag)
    long.add_argument("--workers", type=int, metavar="N", help="processes to search in (default: one, with threads)")


def _add_outputs(command, what):
    outputs = command.add_argument_group("output")
    _add_json(outputs)
    outputs.add_argument("--plot", metavar="FILE", help=f"draw {what}: a file such as bounds.png")
    return outputs


def _add_fit_outputs(command):
    outputs = _add_outputs(command, "the bounds against time")
    _add_labels(outputs)
    outputs.add_argument("--summary", action="store_true", help="print AIC, BIC, ICL and standard errors too")
    return outputs


def _add_labels(outputs):
    outputs.add_argument(
        "--labels", metavar="FILE", help="write as CSV each sample's most probable component and its probabilities"
    )


def _add_proof(outputs):
    outputs.add_argument("--proof", metavar="FILE", help="write a proof for `gopfast check`: a file such as proof.npz")


def _add_json(outputs):
    outputs.add_argument("--json", metavar="FILE", help="write the result as JSON; - for the standard output")


def _names(text):
    """Cut names at commas; a name with a comma stands in quotes."""
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [""])]


def _separator(text):
    character = SEPARATORS.get(text.lower(), text)
    if len(character) != 1 or character.isalnum() or character in "\"'#.+-_\r\n":
        raise argparse.ArgumentTypeError(f"{text!r} is no separator, which is one character, tab or blank")
    return character


def _seconds(text):
    try:
        return None if text.lower() == "none" else float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither seconds nor 'none'") from None


def _sizes(text):
    """Numbers of components: 1-6, or 2,3,5."""
    found = []
    for part in text.split(","):
        low, dash, high = part.strip().partition("-")
        try:
            found += range(int(low), int(high if dash else low) + 1)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is neither a range as 1-6 nor numbers with commas") from None
    if not found or min(found) < 1 or len(found) > MOST_SIZES:
        raise argparse.ArgumentTypeError(f"{text!r} must hold numbers from 1 on, at most {MOST_SIZES} of them")
    return found


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
