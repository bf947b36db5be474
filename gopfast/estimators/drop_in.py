"""Arguments of scikit-learn's mixture and k-means: what they mean to a global search, or why they are refused."""

import numbers

import numpy as np

from gopfast import checks
from gopfast.errors import InputError


def _count(value):
    return isinstance(value, numbers.Integral) and value >= 1


def _tolerance(value):
    return isinstance(value, numbers.Real) and value >= 0


def _one_of(*names):
    wanted = " or ".join(map(repr, names))
    return lambda value: isinstance(value, str) and value in names, wanted


# Of local searches and their restarts, whose part the global search takes: by name what scikit-learn accepts, in code
# and in words.
OF_ALL = {"max_iter": (_count, "an integer of at least 1"), "tol": (_tolerance, "a number of at least 0")}
OF_EM = {
    **OF_ALL,
    "n_init": (_count, "an integer of at least 1"),
    "init_params": _one_of("kmeans", "k-means++", "random", "random_from_data"),
    "verbose_interval": (_count, "an integer of at least 1"),
}
OF_LLOYD = {
    **OF_ALL,
    "n_init": (lambda value: _count(value) or isinstance(value, str) and value == "auto", "'auto' or at least 1"),
    "algorithm": _one_of("lloyd", "elkan"),
    "copy_x": (lambda value: isinstance(value, (bool, np.bool_)), "True or False"),
}
DRAWS = ("k-means++", "random")  # of centers, by scikit-learn's names


def check_without_effect(estimator, arguments):
    """Raise InputError where one of `arguments`, OF_EM or OF_LLOYD, is none that scikit-learn takes."""
    for name, (accepts, wanted) in arguments.items():
        value = getattr(estimator, name)
        if value is not None and not accepts(value):
            raise InputError(
                f"{name} must be {wanted}, as in scikit-learn, or None: it has no effect here; got {value!r}"
            )


def centers_of(init, shape):
    """
    Return a start of k-means from scikit-learn's `init`.

    Parameters
    ----------
    init : {None, "k-means++", "random"} or array_like of shape (K, d)
        Names have no effect: the search draws its own centers.
    shape : tuple
        (K, d).

    Returns
    -------
    ndarray of shape (K, d) or None

    Raises
    ------
    InputError
        If it is none of these.
    """
    if init is None or isinstance(init, str) and init in DRAWS:
        return None
    if isinstance(init, str) or callable(init):
        raise InputError(f"init must be 'k-means++', 'random', centers of shape {shape} or None; got {init!r}")
    return checks.of_shape("init", checks.real_array("init", init), shape)


def check_reg_covar(reg_covar, problem):
    """Raise InputError where variances that scikit-learn keeps above `reg_covar` are free to be less here."""
    if reg_covar is None:
        return
    value = checks.nonnegative_number("reg_covar", reg_covar)
    least = np.min(problem.kind.least)
    if value > least:
        raise InputError(
            f"reg_covar must be at most the floor of the variances, {least:.3g}, where it has no effect; to keep them "
            f"above {value:g} give variance_floor={value:g}"
        )


def start_of(problem, weights, means, precisions):
    """
    Return a start of the search from scikit-learn's arguments.

    Parameters
    ----------
    problem : GaussianMixture
    weights, means, precisions : array_like or None
        `weights_init`, `means_init` and `precisions_init`, in scikit-learn's shapes.

    Returns
    -------
    dict or None

    Raises
    ------
    InputError
        If one has the wrong shape or entries, if there are others without means, or precisions that are none of a
        model whose variances are free.
    """
    given = {"weights_init": weights, "precisions_init": precisions}
    if means is None:
        for name, value in given.items():
            if value is not None:
                raise InputError(f"{name} must be None without means_init")
        return None
    start = {"means": problem._check_rows("means_init", means)}
    if weights is not None:
        array = checks.of_shape("weights_init", checks.real_array("weights_init", weights), (problem.n_weights,))
        start["weights"] = checks.simplex("weights_init", array)
    if precisions is not None:
        start["covariances"] = _inverse(problem, precisions)
    return start


def _inverse(problem, precisions):
    """Return covariances in the problem's shape."""
    kind, array = problem.kind, checks.real_array("precisions_init", precisions)
    if not kind.estimated:
        raise InputError("precisions_init must be None where the variances are known")
    if not kind.matrix_shaped:
        return 1.0 / checks.positive_array("precisions_init", checks.of_shape("precisions_init", array, kind.shape))
    d = problem.n_features
    shape = (d, d) if kind.shared else (problem.n_components, d, d)
    try:
        matrices = np.linalg.inv(checks.of_shape("precisions_init", array, shape))
    except np.linalg.LinAlgError:
        raise InputError("precisions_init must be matrices that have an inverse") from None
    return kind.from_matrices(matrices.reshape(-1, d, d))
