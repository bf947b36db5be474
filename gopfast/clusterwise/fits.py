"""Whatever users call classes of regressions: a result, an estimator, labels, or coefficients and intercepts."""

import numpy as np

from gopfast import checks
from gopfast.clusterwise.result import ClusterwiseFit
from gopfast.errors import InputTypeError


def classes_of(problem, fit, name="fit"):
    """
    Return what users call classes of regressions as a `ClusterwiseFit`: each class with its own least-squares fit.

    Parameters
    ----------
    problem : ClusterwiseRegression
    fit : ClusterwiseResult, ClusterwiseFit, estimator with `coefficients_`, dict or labels of shape (n,)
        A dict has "labels", or "coefficients" (K, p) and, with an intercept, "intercepts" (K,).
    name : str
        For the message.
    """
    found = fit if isinstance(fit, dict) else {
        key: getattr(fit, attribute) for key in ("coefficients", "intercepts", "labels")
        for attribute in (key, f"{key}_") if getattr(fit, attribute, None) is not None
    }  # fmt: skip
    if "labels" in found and len(np.shape(found["labels"])) == 1 and len(found["labels"]) == problem.n_samples:
        labels = problem.check_labels(found["labels"], name)
    elif "coefficients" in found:
        K = problem.n_clusters
        lines = checks.of_shape(name, checks.data_matrix(name, found["coefficients"]), (K, problem.n_features))
        constants = np.zeros(K) if found.get("intercepts") is None else found["intercepts"]
        constants = checks.of_shape(name, checks.real_array(name, constants), (K,))
        labels = problem.assign(lines, constants)
    elif isinstance(fit, dict) or not hasattr(fit, "__len__"):
        raise InputTypeError(f"{name} must be labels, classes of regressions, a result or an estimator")
    else:
        labels = problem.check_labels(fit, name)
    coefficients, intercepts, objective = problem.fit(labels)
    return ClusterwiseFit(coefficients, intercepts, labels, objective)
