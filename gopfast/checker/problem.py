"""The problem that a proof is of, and the user's data as it sees them.

``problem`` is an object with ``family``, ``n_components`` K, and

    known                          noise_variance (d,); prior: null or the range [low, high] of Gamma, m_k ~ N(0, Gamma)
    posterior                      the same with a Gaussian posterior of each m_k in place of a point; prior: a range
    diag, spherical, tied_diag,    variance_floor (d,): of each column, or of one variance per component, or of those of
    tied_spherical                 all components together; least variances
    full, tied                     variance_floor (d,): covariances, of each component or one for all, less diag(floor)
                                   are positive semidefinite
    known, diag, spherical         optionally noise: the density of one more component, the last, the same for all
                                   samples; no prior then
    bernoulli, poisson,            prior: null or [a, b], of the Beta density of probabilities or the Gamma density
    exponential                    (shape, rate) of rates; a, shape and so on at least 1
    regression                     the last column given the others; fit_intercept; variance_floor (1,): least variance
    shared_regression              the same, with one variance for all components
    known_regression               the same; noise_variance (1,): the variance of all components. Of these three
                                   optionally groups: the number of the last column but one, which has them, from 0
    poisson_regression,            the last column, of counts, given the first ones; fit_intercept; least_count: what a
    binomial_regression            count of 0 is taken to be, and one of all trials less than these; n_trials, offset,
                                   groups: numbers of the columns that have them, from 0, or null. Rows of a group have
                                   one component, and one weight
    gamma                          largest_shape: that of a component in a column
    multinomial                    prior: null or the alpha of a Dirichlet; the columns are counts of one variable's
                                   labels, and the objective has the rows' multinomial coefficients
    mixed                          kinds: of each column, normal, poisson, exponential, binary or categorical;
                                   variance_floor: of each normal column; labels: of each column of labels the list of
                                   them; columns: names by which tables that have any are read, or none.
                                   An entry that is missing is left out as of labels
    labels                         labels: of each column the list of them; prior: null or the alpha of a Dirichlet.
                                   An entry that is None or NaN is missing: its column's factor is left out

The objective is ``- sum_i w_i log sum_k p_k f(x_i | k)``, of regressions f(y_i | x_i, k) with all constants, and the
negative logarithm of the prior's density, without the constants ``sum_i w_i log(2 pi v_j) / 2`` and
``log(2 pi) / 2`` of known variances and their prior.

Theory: (VF2) of docs/theory/proof_families.md.
"""

import math
from dataclasses import dataclass

import numpy as np

from .entries import item, number, numbers, reals, weights_of, whole
from .errors import ProofError
from .rounding import Interval
from .tuning import LARGEST_COUNT, LARGEST_SHAPE, LEAST_AMOUNT

FREE = ("diag", "spherical", "tied_diag", "tied_spherical", "full", "tied")  # families of free variances, above a floor
NORMAL = ("known", "posterior", *FREE)
FAMILIES = (*NORMAL, "bernoulli", "poisson", "exponential", "labels",
            "multinomial", "gamma", "regression", "known_regression", "shared_regression", "poisson_regression",
            "binomial_regression", "mixed")  # fmt: skip
NOISY = ("known", "diag", "spherical")  # families beside which there may be a component of constant density
LEVELS = {"regression": "variance_floor", "known_regression": "noise_variance", "shared_regression": "variance_floor"}
COUNTS = ("poisson_regression", "binomial_regression")
OTHERS = ("n_trials", "offset", "groups")  # columns of regressions of counts beside regressors and response
KEYS = {**{family: {level, "fit_intercept"} for family, level in LEVELS.items()},
        **dict.fromkeys(COUNTS, {"fit_intercept", "least_count", *OTHERS}),
        "known": {"noise_variance", "prior"}, "posterior": {"noise_variance", "prior"}, "labels": {"labels", "prior"},
        "gamma": {"largest_shape"}, "mixed": {"kinds", "variance_floor", "labels", "columns"},
        **dict.fromkeys(FREE, {"variance_floor"})}  # fmt: skip
KINDS = ("normal", "poisson", "exponential", "binary", "categorical")
LABELS = ("binary", "categorical")


@dataclass(frozen=True)
class Part:
    """
    Columns of one family, of a mixture of several.

    Attributes
    ----------
    problem : Problem
        Of these columns and of the samples that have an entry there; of labels of all.
    columns : ndarray of int
        Which of the whole's columns are its.
    presence : int or None
        The column that says which samples have an entry, if not all have.
    """

    problem: "Problem"
    columns: np.ndarray
    presence: int | None


class Problem:
    """
    A problem and its data.

    Attributes
    ----------
    family : str
    n_components, n_weights : int
        K, and how many weights a mixture has: with noise one more.
    noise : float or None
        The density of the component that has no parameters.
    columns, weights : ndarray, shape (N, d) and (N,)
        Statistics: of labels zeros and ones. All samples.
    kinds : list of str
        Of every column.
    groups : list of int
        Columns of labels with the same number add up to the sample's number of trials: 1, 0 where the entry is missing,
        any number of counts.
    partial : list of ndarray
        Columns of every variable of labels of which a sample of positive weight has not one trial.
    parts : list of Part
        Of columns of different families; the other families have none.
    place_of_groups : int or None
        The column of regressions that says which rows belong together.
    prior : list of (float, float), (float, float) or None
        Of every column the two parameters of its prior; of known variances the range of Gamma.
    """

    def __init__(self, record, X, sample_weight):
        self.record = record
        self.family = item(record, "family", "problem")
        if self.family not in FAMILIES:
            raise ProofError("problem", f"family {self.family!r} is unknown; there are {', '.join(FAMILIES)}")
        wanted = {"family", "n_components"} | KEYS.get(self.family, {"prior"})
        optional = {"noise"} if self.family in NOISY else {"groups"} if self.family in LEVELS else set()
        if record.keys() - optional != wanted:
            raise ProofError("problem", f"must have {', '.join(sorted(wanted))}")
        try:
            X = self._taken(X)
            X = np.asarray(X, dtype=object if self.family in ("labels", "mixed") else None)
        except ValueError:
            raise ProofError("X", "must have shape (N, d)") from None
        X = X[:, np.newaxis] if X.ndim == 1 else X
        if X.ndim != 2 or not X.size:
            raise ProofError("X", "must have shape (N, d)")
        self.n_components = whole(record, "n_components", "problem", 1, len(X))
        self.weights, self.partial, self.parts = weights_of(sample_weight, len(X)), [], []
        self.place_of_groups = None
        read = {"labels": self._labels, "mixed": self._mixed}.get(self.family, self._numbers)
        self.columns = read(X)
        d = self.columns.shape[1]
        if self.family in ("known", "posterior"):
            self.noise_variance = numbers(record, "noise_variance", "problem", (d,), 1 / 1e100)
            self.prior = self._range() if record["prior"] is not None else None
            if self.family == "posterior" and self.prior is None:
                raise ProofError("problem", "a posterior needs a prior")
        elif self.family in FREE:
            self.floor, self.prior = numbers(record, "variance_floor", "problem", (d,), 1 / 1e100), None
            if self.family in ("spherical", "tied_spherical") and (self.floor != self.floor[0]).any():
                raise ProofError("problem", "a spherical component has one variance_floor")
        elif self.family in LEVELS:
            self.least_variance = float(numbers(record, LEVELS[self.family], "problem", (1,), 1 / 1e100)[0])
            at = whole(record, "groups", "problem", d - 2, d - 2) if "groups" in record else None
            self._take_regressors(d - 1 - (at is not None))
            self._take_groups(at)
        elif self.family in COUNTS:
            self._take_counts()
        elif self.family == "multinomial":
            alpha = self._alpha()
            self.prior = None if alpha is None else [(alpha, float(d))] * d
        elif self.family == "mixed":
            self.prior = None
        elif self.family == "gamma":
            self.prior, self.largest_shape = None, number(record, "largest_shape", "problem")
            if not 0 < self.largest_shape <= LARGEST_SHAPE:
                raise ProofError("problem", f"largest_shape must be above 0, at most {LARGEST_SHAPE:g}")
        elif self.family != "labels":
            self.prior = None
            if record["prior"] is not None:
                self.prior = [tuple(numbers(record, "prior", "problem", (2,)).tolist())] * d
                least = (1.0, 1.0 if self.family == "bernoulli" else 1 / 1e100)
                if not all(x >= y for x, y in zip(self.prior[0], least, strict=True)):
                    raise ProofError("problem", f"the prior's parameters must be at least {least}")
        self._check_values()
        self.noise = self._noise() if "noise" in record else None
        self.n_weights = self.n_components + (self.noise is not None)

    def _take_regressors(self, n):
        self.n_regressors, self.prior, self.fit_intercept = n, None, self.record["fit_intercept"]
        if self.fit_intercept is not True and self.fit_intercept is not False:
            raise ProofError("problem", "fit_intercept must be true or false")
        if n < 0 or n + self.fit_intercept < 1:
            raise ProofError("X", "must have regressors and a response")

    def _take_counts(self):
        d, places = self.columns.shape[1], {}
        for name in OTHERS:
            places[name] = None if self.record[name] is None else whole(self.record, name, "problem", 0, d - 2)
        given = [at for at in places.values() if at is not None]
        self._take_regressors(d - 1 - len(given))
        if len(set(given)) < len(given) or any(at < self.n_regressors for at in given):
            raise ProofError("problem", "regressors must be the first columns, the response the last")
        if (places["n_trials"] is None) != (self.family == "poisson_regression"):
            raise ProofError("problem", "binomial counts have n_trials, others have none")
        self.places, self.least_count = places, number(self.record, "least_count", "problem")
        if not 0 < self.least_count < 0.5:
            raise ProofError("problem", "least_count must be above 0, below 0.5")
        self._take_groups(places["groups"])

    def _take_groups(self, at):
        """Take the column that says which rows belong together, if any does."""
        self.place_of_groups = at
        if at is not None:
            order = np.argsort(self.columns[:, at], kind="stable")
            same = np.diff(self.columns[order, at]) == 0
            if (same & (np.diff(self.weights[order]) != 0)).any():
                raise ProofError("sample_weight", "must be one number for all rows of a group")

    def counts_of(self, columns):
        """Return counts, trials (1 of Poisson ones) and offsets (N,) of columns (N, d)."""
        one = np.ones(len(columns))
        trials, offsets = (
            fill if self.places[name] is None else columns[:, self.places[name]]
            for name, fill in (("n_trials", one), ("offset", 0.0 * one))
        )  # fmt: skip
        return columns[:, -1], trials, offsets

    def begins_of(self, columns):
        """Return at which row (n,) of merged columns each sample begins."""
        if self.place_of_groups is None:
            return np.arange(len(columns))
        return np.flatnonzero(np.diff(columns[:, self.place_of_groups], prepend=np.nan) != 0)

    def _noise(self):
        noise = number(self.record, "noise", "problem")
        if not noise > 0:
            raise ProofError("problem", "the noise's density must be above 0")
        if self.prior is not None:
            raise ProofError("problem", "with noise there is no prior")
        return noise

    def _numbers(self, X):
        X = reals(X, "X")
        d = X.shape[1]
        self.kinds, self.groups = [self.family] * d, [-1] * d
        if self.family == "multinomial":
            totals = X.sum(axis=1)[self.weights > 0]
            if d < 2 or not totals.max() > 0:
                raise ProofError("X", "must have at least two columns, and a count above 0")
            self.kinds, self.groups = ["label"] * d, [0] * d
            self.partial = [np.arange(d)] if (totals != 1).any() else []
        return X

    def _alpha(self):
        """Return the parameter of a Dirichlet prior, or None."""
        alpha = None if self.record["prior"] is None else number(self.record, "prior", "problem")
        if alpha is not None and not alpha >= 1:
            raise ProofError("problem", "the prior's parameter must be at least 1")
        return alpha

    def _labels(self, X):
        """Make a column for each of a variable's labels; of two, where none is missing, of the second; of one none."""
        lists, alpha = self.record["labels"], self._alpha()
        if not isinstance(lists, list) or len(lists) != X.shape[1] or not all(isinstance(own, list) for own in lists):
            raise ProofError("problem", f"must have lists of labels of the data's {X.shape[1]} columns")
        columns, self.kinds, self.groups = [], [], []
        for j, own in enumerate(lists):
            if not all(isinstance(label, (str, int)) for label in own) or len(set(own)) != len(own):
                raise ProofError("problem", f"the labels of column {j} must be different texts or whole numbers")
            missing = np.array([_is_missing(entry) for entry in X[:, j]])
            found = [(X[:, j] == label) & ~missing for label in own]
            if not own or not np.logical_or.reduce([*found, missing]).all():
                raise ProofError("problem", f"column {j} has a label that the proof does not know")
            used = self.weights > 0
            if missing[used].all():
                raise ProofError("problem", f"all entries of column {j} are missing")
            is_partial = len(own) > 1 and missing[used].any()
            found = found if len(own) > 2 or is_partial else found[1:]
            if is_partial:
                self.partial.append(np.arange(len(columns), len(columns) + len(found)))
            columns += found
            self.kinds += ["label" if len(own) > 2 or is_partial else "bernoulli"] * len(found)
            self.groups += [j if len(own) > 2 or is_partial else -1] * len(found)
        if not columns:
            raise ProofError("problem", "no column has two labels")
        # of a label alpha and the number of labels, of two labels a Beta density
        sizes = {j: len(own) for j, own in enumerate(lists)}
        self.prior = None if alpha is None else [(alpha, float(sizes[j]) if j >= 0 else alpha) for j in self.groups]
        return np.array(columns, dtype=float).T

    def _taken(self, X):
        """Take the columns of a table that has names: those that the proof names, or all."""
        names = self.record.get("columns", [])
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise ProofError("problem", "columns must be a list of names")
        if hasattr(X, "columns") and not names or not hasattr(X, "keys"):  # an array, or all of a frame
            return X
        found = {str(name): name for name in X.keys()}
        names = names or list(found)
        if not found.keys() >= set(names):
            raise ProofError("X", f"must have the columns {', '.join(names)}")
        dtype = object if self.family in ("labels", "mixed") else None
        columns = [np.asarray(X[found[name]], dtype=dtype) for name in names]
        if not columns or len({column.shape for column in columns}) > 1 or columns[0].ndim != 1:
            raise ProofError("X", "must have columns of one length")
        return np.stack(columns, axis=1)

    def _mixed(self, X):
        """Divide a table: labels together, whole columns of a kind together, each with missing entries by itself."""
        kinds, lists, floors = (self.record[name] for name in ("kinds", "labels", "variance_floor"))
        if not isinstance(kinds, list) or len(kinds) != X.shape[1] or not all(kind in KINDS for kind in kinds):
            raise ProofError("problem", f"kinds must be one of {', '.join(KINDS)} for each of {X.shape[1]} columns")
        floors = iter(numbers(self.record, "variance_floor", "problem", (kinds.count("normal"),), 1 / 1e100).tolist())
        n_lists = sum(kind in LABELS for kind in kinds)
        if not isinstance(lists, list) or len(lists) != n_lists:
            raise ProofError("problem", f"labels must be lists for each of {n_lists} columns")
        missing = np.array([[_is_missing(entry) for entry in row] for row in X])
        of_column = [next(floors) if kind == "normal" else None for kind in kinds]
        together = {}
        for j, kind in enumerate(kinds):
            key = "labels" if kind in LABELS else (kind, j if missing[:, j].any() else None)
            together.setdefault(key, []).append(j)
        blocks, self.kinds, self.groups = [], [], []
        for key, own in together.items():
            n = len(self.kinds)
            seen = ~missing[:, own[0]] if key != "labels" and key[1] is not None else None
            part = self._part(key, X[:, own], seen, lists, [of_column[j] for j in own])
            values = part.columns if seen is None else _spread(part.columns, seen)
            columns = n + np.arange(values.shape[1])
            self.kinds += part.kinds
            self.groups += [group if group < 0 else n + group for group in part.groups]
            self.partial += [n + one for one in part.partial]
            blocks.append(values)
            presence = None
            if seen is not None:
                blocks.append(seen[:, np.newaxis].astype(float))
                presence, self.kinds, self.groups = len(self.kinds), [*self.kinds, "presence"], [*self.groups, -1]
            self.parts.append(Part(part, columns, presence))
        return np.hstack(blocks)

    def _part(self, key, X, seen, lists, floors):
        """Return the problem of columns of one family."""
        weights = self.weights
        if seen is not None:
            X, weights = X[seen], weights[seen]
        record = {"n_components": max(1, min(self.n_components, len(X)))}
        if key == "labels" and all(isinstance(own, list) and len(own) == 1 for own in lists):
            # nothing to estimate: a column of zeros
            for j, (label,) in enumerate(lists):
                if not all(_is_missing(entry) or entry == label for entry in X[:, j]):
                    raise ProofError("problem", f"column {j} of labels has a label that the proof does not know")
            return Problem({**record, "family": "bernoulli", "prior": None}, np.zeros((len(X), 1)), weights)
        if key == "labels":
            return Problem({**record, "family": "labels", "labels": lists, "prior": None}, X, weights)
        if key[0] == "normal":
            return Problem({**record, "family": "diag", "variance_floor": floors}, _floats(X), weights)
        return Problem({**record, "family": key[0], "prior": None}, _floats(X), weights)

    def _range(self):
        low, high = numbers(self.record, "prior", "problem", (2,), 1 / 1e100)
        if not low <= high:
            raise ProofError("problem", "the range of the prior variance is empty")
        return float(low), float(high)

    def _check_values(self):
        X = self.columns
        if self.family == "bernoulli" and not np.isin(X, (0.0, 1.0)).all():
            raise ProofError("X", "must hold zeros and ones")
        if self.family in ("poisson", "multinomial") and not ((X >= 0) & (np.floor(X) == X)).all():
            raise ProofError("X", "must hold counts")
        if self.family == "exponential" and not (X >= 0).all():
            raise ProofError("X", "must hold numbers of at least 0")
        if self.family == "gamma" and not (X >= LEAST_AMOUNT).all():
            raise ProofError("X", f"must hold numbers of at least {LEAST_AMOUNT:g}")
        if self.family in COUNTS:
            counts, trials, _ = self.counts_of(X)
            if not ((counts >= 0) & (np.floor(counts) == counts) & (counts <= LARGEST_COUNT)).all():
                raise ProofError("X", f"must hold counts in its last column, of at most {LARGEST_COUNT:g}")
            if not ((trials >= 1) & (np.floor(trials) == trials) & (trials <= LARGEST_COUNT)).all():
                raise ProofError("X", f"must hold whole numbers of trials, from 1 to {LARGEST_COUNT:g}")
            if self.family == "binomial_regression" and not (counts <= trials).all():
                raise ProofError("X", "must hold counts of at most as many as there are trials")

    def merged(self):
        """
        Different samples of positive weight (M, d) and their weights, summed exactly and rounded once.

        Where rows belong together all rows, group by group, and the weights of the groups.
        """
        used = self.weights > 0
        if self.place_of_groups is not None:
            rows, weights = self.columns[used], self.weights[used]
            order = np.argsort(rows[:, self.place_of_groups], kind="stable")
            rows = rows[order]
            return rows, weights[order][self.begins_of(rows)]
        rows, index = np.unique(self.columns[used], axis=0, return_inverse=True)
        weights, index = self.weights[used], index.reshape(-1)
        if len(rows) == len(index):
            return self.columns[used], weights
        parts = np.split(weights[np.argsort(index, kind="stable")], np.cumsum(np.bincount(index))[:-1])
        return rows, np.array([math.fsum(part) for part in parts])

    def centered_at_zero(self):
        """Return the columns whose reference is 0: those that say which samples have an entry, by label or not."""
        presences = [part.presence for part in self.parts if part.presence is not None]
        return np.concatenate([np.zeros(0, int), *self.partial, np.array(presences, dtype=int)])

    def part(self, own):
        """Return the problem of some columns of normal ones of free variance."""
        record = {**self.record, "variance_floor": self.floor[own].tolist()}
        return Problem(record, self.columns[:, own], self.weights)

    def axes_shape(self):
        """Return the shape of a proof's axes: of regressions a place for each coefficient."""
        if self.family in LEVELS or self.family in COUNTS:
            return self.n_regressors + self.fit_intercept, self.n_regressors + 1
        d = self.columns.shape[1]
        return d, d

    def constant(self):
        """
        Return what the objective has beside the samples' costs and the prior's.

        Of counts it is sum w log x!, and of multinomial ones so much less sum w log N!, N a row's total; of n trials
        sum w log x! (n - x)! / n!.
        """
        if self.family in COUNTS:
            counts, trials, _ = self.counts_of(self.columns)
            value = _log_factorials(counts[:, np.newaxis], self.weights)
            if self.family == "binomial_regression":
                value = value + _log_factorials((trials - counts)[:, np.newaxis], self.weights)
                value = value - _log_factorials(trials[:, np.newaxis], self.weights)
            return value
        if self.family == "mixed":
            return sum((part.problem.constant() for part in self.parts), Interval(0.0))
        if self.family not in ("poisson", "multinomial"):
            return Interval(0.0)
        value = _log_factorials(self.columns, self.weights)
        if self.family == "multinomial":
            value = value - _log_factorials(self.columns.sum(axis=1, keepdims=True), self.weights)
        return value


def _is_missing(entry):
    """Whether an entry is None, NaN or another that is not equal to itself."""
    try:
        return entry is None or bool(entry != entry)
    except (TypeError, ValueError):  # of pandas' NA neither is known
        return True


def _floats(X):
    """Numbers (N, d) of a table of objects."""
    try:
        return X.astype(float)
    except (TypeError, ValueError):
        raise ProofError("X", "must hold numbers in the columns of numbers") from None


def _spread(columns, seen):
    """Return columns of the samples that have an entry as those of all, 0 elsewhere."""
    values = np.zeros((len(seen), columns.shape[1]))
    values[seen] = columns
    return values


def _log_factorials(counts, weights):
    """Sum w log x! of counts x (N, d), each within 1e-14 of itself."""
    pairs = zip(counts.tolist(), weights.tolist(), strict=True)
    total = math.fsum(w * math.lgamma(x + 1.0) for row, w in pairs for x in row)
    return Interval(total * (1 - 1e-14), total * (1 + 1e-14))
