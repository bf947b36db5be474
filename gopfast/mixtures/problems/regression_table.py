"""Tables of regressions: regressors, what else there is of a row (trials, offsets, groups), responses."""

import numpy as np

from gopfast import checks
from gopfast.errors import InputError


def _codes(groups):
    """Return numbers (n,) in place of labels of any kind, in their order where they have one."""
    labels = np.asarray(groups, dtype=object)  # as text NumPy would make a label of a missing one
    if labels.ndim != 1:
        raise InputError(f"groups must be labels of shape (n,); got shape {labels.shape}")
    labels = labels.tolist()
    missing = [i for i, label in enumerate(labels) if checks.says_missing(label)]
    if missing:
        raise InputError(f"groups must be labels, none of them missing; that of sample {missing[0]} is")
    try:
        place = dict.fromkeys(labels)
    except TypeError:
        raise InputError("groups must be labels of shape (n,), each a number or text") from None
    try:
        kinds = sorted(place)
    except TypeError:  # of several types
        kinds = list(place)
    place = {label: code for code, label in enumerate(kinds)}
    return np.array([place[label] for label in labels], dtype=np.intp)


def table_with(X, y, given):
    """
    Return all columns, the regressors first and the response last, their names, and the places of what is `given`.

    Parameters
    ----------
    X : array_like, shape (n,) or (n, p)
    y : array_like of shape (n,), or None
    given : dict
        A number, one for each sample, or a column of X, by the argument's name; None where there is none. "groups" are
        labels of any kind.
    """
    others = {name: value for name, value in given.items() if value is not None}
    if not isinstance(others.get("groups", ""), str):
        others["groups"] = _codes(others["groups"])
    names, rows = checks.column_names(X), checks.data_matrix("X", X)
    left, apart = list(range(rows.shape[1] - (y is None))), []
    for name, value in others.items():
        if isinstance(value, str):
            at = names.index(value) if value in names else int(value) - 1 if value.isdecimal() else -1
            if at not in left:
                raise InputError(f"{name} must be a regressor's column of X, by its name or its place; got {value!r}")
            left.remove(at)
            apart.append((names[at] if names else name, rows[:, at]))
        else:
            array = checks.real_array(name, value)
            array = np.full(len(rows), float(array)) if array.ndim == 0 else array
            apart.append((name, checks.of_shape(name, array, (len(rows),))))
    if not left and (others or y is not None):
        raise InputError("X must have a column of regressors" + (" and the responses" if y is None else ""))
    table, columns = table_of(X, y, *apart)
    kept = [*left, *range(rows.shape[1] - (y is None), table.shape[1])]
    places = {name: str(len(left) + i + 1) for i, name in enumerate(others)}
    return table[:, kept], tuple(columns[j] for j in kept) if columns else (), places


def table_of(X, y, *others):
    """
    Return regressors, other columns and responses side by side, and their names.

    Parameters
    ----------
    X : array_like, shape (n,) or (n, p)
    y : array_like of shape (n,), or None
        The last column of X where it is None.
    *others : (str, ndarray)
        Columns that come between: their names and values (n,).
    """
    columns, rows = checks.column_names(X), checks.data_matrix("X", X)
    if y is None and rows.shape[1] < 2:
        raise InputError("y must be given: X has one column only")
    if y is None:
        rows, response, last = rows[:, :-1], rows[:, -1], columns[-1:]
        columns = columns[:-1]
    else:
        response, last = checks.of_shape("y", checks.real_array("y", y), (len(rows),)), (_name_of(y),)
    names = (*columns, *(name for name, _ in others), *last) if columns else ()
    return np.column_stack([rows, *(value for _, value in others), response]), names


def _name_of(y):
    """Return the name of a series, or "y"."""
    name = getattr(y, "name", None)
    return name if isinstance(name, str) else "y"
