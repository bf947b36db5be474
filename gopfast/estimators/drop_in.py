"""Arguments of scikit-learn's mixture: what they mean to a global search, or why they are refused."""

import numbers

import numpy as np

from gopfast import checks
from gopfast.errors import InputError

# Of EM and its restarts, whose part the search takes: checked, and without effect.
OF_EM = {
    "n_init": lambda value: isinstance(value, numbers.Integral) and value >= 1,
    "max_iter": lambda value: isinstance(value, numbers.Integral) and value >= 1,
    "tol": lambda value: isinstance(value, numbers.Real) and value >= 0,
    "init_params": lambda value: value in ("kmeans", "k-means++", "random", "random_from_data"),
}


def check_of_em(estimator):
    """Raise InputError where an argument of EM is none that scikit-learn takes."""
    for name, accepts in OF_EM.items():
        value = getattr(estimator, name)
        if value is not None and not accepts(value):
            raise InputError(f"{name} must be what scikit-learn takes, or None: it has no effect here; got {value!r}")


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
        If there are others without means, or precisions that are none of a model whose variances are free.
    """
    given = {"weights_init": weights, "precisions_init": precisions}
    if means is None:
        for name, value in given.items():
            if value is not None:
                raise InputError(f"{name} must be None without means_init")
        return None
    start = {"means": means}
    if weights is not None:
        start["weights"] = weights
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
