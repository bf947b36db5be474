"""What estimators tell: lines while they fit, and the warning of a fit that is not proved."""

import sys
import warnings
import weakref

from sklearn.exceptions import ConvergenceWarning

from gopfast import errors
from gopfast.errors import InputError
from gopfast.estimators.tuning import EVERY, USEFUL
from gopfast.mixtures.tuning import TIGHT
from gopfast.options import BAR
from gopfast.report import Heartbeat

HINT = "time_limit= or Ctrl-C ends it with its bounds, verbose=2 prints a table, verbose=0 nothing"


class NotProvedWarning(errors.NotProvedWarning, ConvergenceWarning):
    """As `gopfast.NotProvedWarning`, for those who filter scikit-learn's class."""


# Of searches over parameters that were told of a fit: what each has cloned its estimators from, one for each `fit`, and
# the kinds of warnings.
_TOLD: weakref.WeakKeyDictionary[object, set[type[Warning]]] = weakref.WeakKeyDictionary()


def warn_once(text, kind, stacklevel):
    """
    Warn of a fit; within a search over parameters of the first one of its kind, for all.

    Parameters
    ----------
    text : str
        Of this fit.
    kind : type
        NotProvedWarning, or UserWarning of a fit that is proved but of little use.
    stacklevel : int
        As of `warnings.warn`, from the caller.
    """
    search, model = _search_at_work()
    if search is not None:
        told = _TOLD.setdefault(model, set())
        if kind in told:
            return
        told.add(kind)
        text = f"{text} Within this {search} only its first such fit is told."
    warnings.warn(text, kind, stacklevel=stacklevel + 1)


def _search_at_work():
    """Return the name of the search over parameters that this thread runs in, and what it clones; else None twice."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "fit" and frame.f_globals.get("__name__") == "sklearn.model_selection._search":
            model = frame.f_locals.get("base_estimator")
            if model is not None:
                return type(frame.f_locals["self"]).__name__, model
        frame = frame.f_back
    return None, None


def log_of(verbose):
    """
    Return the `log` of a solve.

    Parameters
    ----------
    verbose : {None, 0, 1, 2, "bar"}
        None: a line on standard error after 5 seconds, and each time that the time has doubled. 0: nothing. 1: a line
        every 5 seconds. 2: a table on standard output. "bar": a bar of tqdm.

    Returns
    -------
    bool, str or Heartbeat

    Raises
    ------
    InputError
        If it is none of these.
    """
    if verbose is None:
        return Heartbeat(hint=HINT)
    if isinstance(verbose, str) and verbose == BAR:
        return BAR
    if isinstance(verbose, str) or verbose < 0 or verbose != int(verbose):
        raise InputError(f"verbose must be None, 0, 1, 2 or {BAR!r}; got {verbose!r}")
    if verbose == 1:
        return Heartbeat(hint=HINT, every=EVERY)
    return verbose >= 2


def advice(name, result, time_limit, epsilon):
    """
    Say what a fit of a mixture that is not proved is worth, and what to do.

    Parameters
    ----------
    name : str
        The estimator's.
    result : Result
    time_limit : float or None
        Seconds.
    epsilon : float
        Nats.

    Returns
    -------
    str
        The first sentence says which of three cases it is: bounded so tightly that no other fit is of use, bounded, or
        not bounded to any use. Then why the search ended, and what to do.
    """
    bound = f"{result.gap:.3g} nats of the total {result._elbo_name} ({result.gap_per_sample:.2g} a sample)"
    why = f"{result.message[:1].upper()}{result.message[1:]}."
    told = f"{name} is not proved optimal"
    if result.gap_per_sample <= TIGHT:
        return f"{told}, but bounded to {bound}. {why} An epsilon of {result.gap:.2g} counts that as proved."
    evidence = f"; evidence, no proof: {result.evidence}" if result.evidence else ""
    if result.gap_per_sample <= USEFUL:
        limit = "None" if time_limit is None else f"{time_limit:g} s; None lifts it"
        return (
            f"{told}, but bounded to {bound}{evidence}. {why} To close the gap raise time_limit ({limit}) or epsilon "
            f"({epsilon:g}), or take fewer components."
        )
    return (
        f"{told}, and not bounded to any use, by {bound}{evidence}. {why} Fewer components, columns or free variances "
        "are easier to bound; more than a minute seldom helps."
    )
