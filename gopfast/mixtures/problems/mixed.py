"""Mixtures of columns of different kinds, independent within a component, with missing entries.

Theory: (Z1), (Z2) and (Z3) of docs/theory/products.md.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gopfast import checks
from gopfast.annotations import FloatArray
from gopfast.errors import InputError, InputTypeError
from gopfast.mixtures.problems import mixed_table
from gopfast.mixtures.problems.base import MixtureProblem
from gopfast.mixtures.problems.categorical import MISSING
from gopfast.mixtures.problems.closed_form import Optimum
from gopfast.mixtures.problems.covariance import CovarianceKind, Diagonal
from gopfast.mixtures.problems.exponential import ExponentialMixture
from gopfast.mixtures.problems.gaussian import GaussianMixture
from gopfast.mixtures.problems.latent_class import LatentClass
from gopfast.mixtures.problems.mixed_table import LABELS
from gopfast.mixtures.problems.poisson import PoissonMixture
from gopfast.roundoff import ROUND

# Which parameter a kind of column has beside "covariances", and the model of a part of such columns.
PARAMETERS = {
    "normal": "means", "poisson": "rates", "exponential": "rates", "binary": "probabilities",
    "categorical": "probabilities",
}  # fmt: skip


class Part(NamedTuple):
    """
    Columns that are a mixture of one family.

    Attributes
    ----------
    problem : MixtureProblem
        Of these columns, and of the samples that have entries in them.
    columns : ndarray of int
        Which ones.
    places : ndarray of int
        Their places in the parameters.
    rows : ndarray of bool, shape (n,), or None
        The samples, if those are not all. Missing labels are the problem's own.
    """

    problem: MixtureProblem
    columns: NDArray[np.intp]
    places: NDArray[np.intp]
    rows: NDArray[np.bool_] | None


class MixedMixture(MixtureProblem):
    """
    Mixture of products of distributions of different families, one for each column; entries may be missing.

    The objective is the negative log-likelihood with all constants. Columns are independent within a component, and
    entries are missing at random: the factor of a missing entry is left out::

        p(x_i | theta_k) = prod_j f_j(x_ij | theta_kj)      over the columns j of which sample i has an entry

    `gopfast.models.MixtureProblem` has the attributes that are not listed here.

    Parameters
    ----------
    kinds : str, sequence of str, mapping of str to str or None, or None
        What the columns hold: "normal" (real numbers, of free mean and variance), "poisson" (counts), "exponential"
        (positive waiting times), "binary" (two labels) or "categorical" (labels). One for all columns, one for each,
        or for those columns of a data frame that are taken, by name. None: by the types of the entries, of truth values
        "binary", of other numbers "normal", of all else "binary" (at most two labels) or "categorical"; the result's
        notes say what was chosen. With "normal" alone it is
        ``GaussianMixture(covariance="diag")`` with missing entries: a latent profile model.
    data : array_like, shape (n,) or (n, d), data frame, or mapping of str to columns
        Entries that are None, NaN or pandas' NA are missing. Every column needs one that is not.
    n_components : int
        Number of components K, from 1 to n.
    variance_floor : float or array_like of shape (m,), optional
        Lower bound of the variances of the m normal columns, in squared units of each; by default as of
        `gopfast.GaussianMixture`, of the columns without missing entries together and of each other one by itself.
    categories : sequence of sequences, optional
        The categories of each binary or categorical column; by default those found, sorted.
    sample_weight : array_like of shape (n,), optional
        Weights w_i of the samples, at least 0 and not all 0; 1 by default.

    Attributes
    ----------
    X : ndarray, shape (n, d)
        Read-only: numbers, of labels their codes; NaN where an entry is missing.
    kinds : tuple of str
        Of each column.
    categories : tuple of ndarray
        The labels of each column of labels, in the order of their codes.
    variance_floor : ndarray, shape (m,)
        The floor in use.
    parts : tuple of Part
        The columns by family.
    parameter_names : tuple of str
        Those of "means" (K, m), "covariances" (K, m), the variances of the same columns, "rates" (K, r) of counts and
        waiting times, and "probabilities", a tuple of an array (K, C_j) for each column of labels, that there are;
        columns in the order of the data.

    Raises
    ------
    InputError
        A `ValueError` naming the argument with a bad value; `InputTypeError` if it is of a wrong kind.

    References
    ----------
    Hunt & Jorgensen, "Mixture model clustering for mixed data with missing information", Computational Statistics &
    Data Analysis 41 (2003).

    Examples
    --------
    >>> import gopfast
    >>> data = {"age": [31.0, 35.5, None, 62.0, 70.0], "smokes": ["no", "no", "yes", "yes", None]}
    >>> problem = gopfast.MixedMixture({"age": "normal", "smokes": "binary"}, data, 2)
    >>> problem.parameter_names
    ('means', 'covariances', 'probabilities')
    >>> problem
    MixedMixture(n_samples=5, n_features=2, n_components=2, kinds=('normal', 'binary'))
    """

    kinds: tuple[str, ...]
    categories: tuple[NDArray[np.int64 | np.str_], ...]
    variance_floor: FloatArray
    parts: tuple[Part, ...]
    _default_floor = _by_type = False
    _formula_keeps_digits = False

    def __init__(
        self,
        kinds: str | Sequence[str] | Mapping[str, str] | None,
        data: ArrayLike,
        n_components: int,
        *,
        variance_floor: ArrayLike | None = None,
        categories: Sequence[ArrayLike] | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> None:
        table = mixed_table.read(kinds, data, categories)
        self._store(
            table.X, n_components, sample_weight, prior=None, kinds=table.kinds, categories=table.categories,
            columns=table.columns, variance_floor=None, parts=(), _default_floor=variance_floor is None,
            _by_type=kinds is None or isinstance(kinds, Mapping) and None in kinds.values(),
        )  # fmt: skip
        if np.isnan(self.X[self.sample_weight > 0.0]).all(axis=0).any():
            raise InputError("data must have an entry of positive weight in every column")
        if variance_floor is not None:
            variance_floor = self._checked_floor(variance_floor)
        self._divide(variance_floor)

    def _checked_floor(self, value):
        """Check a floor, of all normal columns or of each."""
        m = self.kinds.count("normal")
        if m == 0:
            raise InputError("variance_floor must be None: no column is 'normal'")
        array = checks.real_array("variance_floor", value)
        array = np.full(m, float(array)) if array.ndim == 0 else array
        return checks.positive_array("variance_floor", checks.of_shape("variance_floor", array, (m,)))

    def _divide(self, floor):
        """Make the parts, with a floor of each normal column, by default theirs."""
        seen = ~np.isnan(self.X)
        whole, place = seen.all(axis=0), {name: 0 for name in PARAMETERS.values()}
        places = []
        for kind in self.kinds:
            places.append(place[PARAMETERS[kind]])
            place[PARAMETERS[kind]] += 1
        groups = {}
        for j, kind in enumerate(self.kinds):
            # labels of all columns together, others of those without missing entries
            key = LABELS[0] if kind in LABELS else kind if whole[j] else (kind, j)
            groups.setdefault(key, []).append(j)
        found, parts = np.empty(place["means"]), []
        for key, columns in groups.items():
            columns = np.array(columns)
            rows = seen[:, columns[0]] if isinstance(key, tuple) else None
            at = np.array([places[j] for j in columns])
            has_floor = floor is not None and self.kinds[columns[0]] == "normal"
            part = Part(self._problem_of(key, columns, rows, floor[at] if has_floor else None), columns, at, rows)
            if isinstance(part.problem, GaussianMixture):
                found[at] = part.problem.variance_floor
            parts.append(part)
        self.__setstate__({"parts": tuple(parts), "variance_floor": found})

    def _problem_of(self, key, columns, rows, floor):
        """Make the mixture of some columns, of samples that have an entry there."""
        X, weight = self.X[:, columns], self.sample_weight
        if rows is not None:
            X, weight = X[rows], weight[rows]
        kind, K = key[0] if isinstance(key, tuple) else key, self.n_components
        n_components, given = min(K, len(X)), {"sample_weight": weight}
        if kind in LABELS:
            labels = [np.arange(len(own)) for own in self.categories]
            found = LatentClass(np.where(np.isnan(X), None, X), n_components, categories=labels, **given)
        elif kind == "normal":
            found = GaussianMixture(X, n_components, covariance=Diagonal.name, variance_floor=floor, **given)
        else:
            found = (PoissonMixture if kind == "poisson" else ExponentialMixture)(X, n_components, **given)
        return found if n_components == K else found._with(n_components=K)

    def _with(self, **changed):
        """Return the same model with other `X`, `sample_weight` or `n_components`, which are not checked."""
        other = super()._with(**changed)
        other._divide(self.variance_floor)
        return other

    def _enlarged(self, n_components):
        """Return the same model with more components, whose default floor may be lower."""
        larger = self._with(n_components=n_components)
        if self._default_floor:
            larger._divide(None)
            larger._divide(np.minimum(self.variance_floor, larger.variance_floor))
        return larger

    def _model_names(self):
        return ("kinds",)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of the parameters beside the weights."""
        found = {PARAMETERS[kind] for kind in self.kinds}
        names = ("means", "covariances", "rates", "probabilities")
        return tuple(name for name in names if name in found or (name == "covariances" and "means" in found))

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: K - 1 weights, and those of each column in each component."""
        K = self.n_components
        return K - 1 + sum(part.problem.n_parameters - (K - 1) for part in self.parts)

    def _columns_of(self, name):
        """Return which columns of the data a parameter has columns for."""
        name = "means" if name == "covariances" else name
        return [j for j, kind in enumerate(self.kinds) if PARAMETERS[kind] == name]

    @property
    def kind(self) -> CovarianceKind:
        """Diagonal covariances of the normal columns."""
        return Diagonal(self.n_components, len(self.variance_floor), self.variance_floor)

    def _column_as_given(self, j):
        column = self.X[:, j]
        if self.kinds[j] not in LABELS:
            return column
        labels, seen = self.categories[self._columns_of("probabilities").index(j)].astype(object), ~np.isnan(column)
        return np.where(seen, labels[np.where(seen, column, 0).astype(int)], None)

    @classmethod
    def _rebuilt(cls, X, sample_weight, columns, given):
        kinds = given.pop("kinds")
        if columns and (hasattr(X, "columns") or isinstance(X, Mapping)):
            kinds = dict(zip(columns, kinds, strict=True))
        return cls(kinds, X, sample_weight=sample_weight, **given)

    # Parameters of the parts

    def _own(self, part, parameters):
        """Return a part's parameters."""
        return {name: _taken(parameters[name], part.places) for name in part.problem.parameter_names}

    def _joined(self, found):
        """Return the parameters of pairs of a part and its own."""
        out = {}
        for name in self.parameter_names:
            columns = {}
            for part, own in found:
                if name in own:
                    values = own[name] if isinstance(own[name], tuple) else own[name].T
                    columns.update(zip(part.places.tolist(), values, strict=True))
            ordered = [columns[place] for place in sorted(columns)]
            out[name] = tuple(ordered) if name == "probabilities" else np.stack(ordered, axis=1)
        return out

    def _check_values(self, *values):
        given = dict(zip(self.parameter_names, values, strict=True))
        checked = []
        for name, value in given.items():
            size = len(self._columns_of(name))
            if name == "probabilities":
                if not isinstance(value, (list, tuple)) or len(value) != size:
                    raise InputTypeError(f"probabilities must be a list with one entry for each of {size} columns")
                checked.append(tuple(
                    checks.simplex(f"probabilities[{j}]", checks.of_shape(
                        f"probabilities[{j}]", checks.real_array(f"probabilities[{j}]", table),
                        (self.n_components, len(labels)),
                    )) for j, (table, labels) in enumerate(zip(value, self.categories, strict=True))
                ))  # fmt: skip
                continue
            array = checks.of_shape(name, checks.real_array(name, value), (self.n_components, size))
            array = self.kind.checked(array) if name == "covariances" else array
            checked.append(checks.at_least(name, array, 0.0) if name == "rates" else array)
        return tuple(checked)

    # Likelihood and M step

    def _log_kernel(self, parameters):
        total = np.zeros((len(self.X), self.n_components))
        for part in self.parts:
            X = self.X[:, part.columns]
            seen = ~np.isnan(X).any(axis=1) if not isinstance(part.problem, LatentClass) else np.ones(len(X), bool)
            total[seen] += _at(part.problem, _coded(part.problem, X[seen]))._log_kernel(self._own(part, parameters))
        return total

    def _m_step(self, mass, weights, former):
        found = []
        for part in self.parts:
            own = mass if part.rows is None else mass[part.rows]
            before = None if former is None else self._own(part, former)
            unused = own.max(axis=0) == 0.0
            if unused.any() and not isinstance(part.problem, LatentClass):
                own = np.where(unused, part.problem.sample_weight[:, np.newaxis], own)
            own = own / np.where(own.max(axis=0) > 0.0, own.max(axis=0), 1.0)  # only ratios matter
            best = part.problem._m_step(own, weights, before)
            if before is not None and unused.any():
                best = {name: _chosen(unused, before[name], value) for name, value in best.items()}
            found.append((part, best))
        return self._joined(found)

    def _rows_like(self, X):
        """Read a table of the same columns, which may lack all entries of one."""
        has_names = isinstance(X, Mapping) or hasattr(X, "columns")
        kinds = dict(zip(self.columns, self.kinds, strict=True)) if self.columns and has_names else self.kinds
        return mixed_table.read(kinds, X, list(self.categories), whole=False).X

    def _drawn_rows(self, X, rng):
        """Leave out what is missing in rows of the data that are drawn beside."""
        found = np.array(self._rows_like(X))
        rows = rng.choice(self.n_samples, len(found), p=self.sample_weight / self.total_weight)
        found[np.isnan(self.X[rows])] = np.nan
        return found

    def _draw(self, rng, components, parameters):
        found = np.empty((len(components), self.n_features), dtype=object)
        for part in self.parts:
            drawn = part.problem._draw(rng, components, self._own(part, parameters))
            for place, j in enumerate(part.columns):
                values = drawn[:, place]
                if self.kinds[j] in LABELS:
                    values = self.categories[part.places[place]][values.astype(int)]
                found[:, j] = values
        return found

    # What the solver asks

    def _layout(self):
        """
        Lay the core's columns of all parts side by side.

        Returns
        -------
        table : ndarray, shape (n, D)
            Of each part its statistics in the core's order, a missing one the center; of a part with missing entries
            then a column of 1 where a sample has one and 0 elsewhere.
        scale, center : ndarray, shape (D,)
        families : list of Family
            Of the parts, each of its own samples.
        means : dict of int to int
            Columns of the means, by their place in the parameter.
        """
        columns, scale, center, families, means = [], [], [], [], {}
        for part in self.parts:
            family = part.problem._family()
            data, order = family.data, np.asarray(family.data.order)
            values = part.problem._statistics()
            if part.rows is not None:
                whole = np.broadcast_to(data.center, (self.n_samples, values.shape[1])).copy()
                whole[part.rows] = values
                values = whole
            if part.problem.parameter_names[0] == "means":
                means |= {int(part.places[j]): len(columns) + i for i, j in enumerate(order)}
            columns += list(values[:, order].T)
            scale, center = [*scale, *np.asarray(data.scale)[order]], [*center, *np.asarray(data.center)[order]]
            if part.rows is not None:
                columns, scale, center = [*columns, part.rows.astype(float)], [*scale, 1.0], [*center, 0.0]
            families.append(family)
        return np.stack(columns, axis=1), np.array(scale), np.array(center), families, means

    def _family(self):
        """Make the product of the parts' families."""
        from gopfast.mixtures.families.side_by_side import product  # compiled, as problems are not

        table, scale, center, families, _ = self._layout()
        partial = [part.rows is not None for part in self.parts]

        def decode(found):
            return self._joined(list(zip(self.parts, found, strict=True)))

        def encode(parameters):
            return [self._own(part, parameters) for part in self.parts]

        return product(table, self.sample_weight, scale, center, families, partial, decode, encode)

    def _record_of_proof(self):
        """Name the columns' kinds, floors and labels; a part without missing entries alone is its family's."""
        labels = [own.tolist() for own in self.categories]
        if self._is_one_family:
            record = self.parts[0].problem._record_of_proof()
            return {**record, "labels": labels} if record is not None and labels else record
        return {
            "family": "mixed", "n_components": self.n_components, "kinds": list(self.kinds),
            "variance_floor": self.variance_floor.tolist(), "labels": labels, "columns": list(self.columns),
        }  # fmt: skip

    @property
    def _is_one_family(self):
        """Whether it is a mixture of another kind."""
        return len(self.parts) == 1 and self.parts[0].rows is None

    def _data_of_proof(self):
        """Return the table, None where an entry is missing; numbers alone of a family that no entries miss."""
        if self._is_one_family and self.kinds[0] not in LABELS:
            return self.X
        columns = [self._column_as_given(j).astype(object) for j in range(self.n_features)]
        table = np.stack(columns, axis=1)
        table[np.isnan(self.X)] = None
        return table

    def _moved(self, distance):
        return distance(self._layout()[0], self.sample_weight[:, np.newaxis])

    def _moved_means(self, distance, solution):
        if solution.means is None:
            return 0.0
        _, _, center, _, means = self._layout()
        points = np.tile(center, (self.n_components, 1))
        for place, column in means.items():
            points[:, column] = solution.means[:, place]
        return distance(points, self.total_weight * solution.weights[:, np.newaxis])

    def _closed_form(self, X, w):
        """Solve each part; None where one has no closed form."""
        found = []
        for part in self.parts:
            problem = part.problem
            used = problem.sample_weight > 0.0
            found.append(problem._closed_form(problem.X[used], problem.sample_weight[used]))
        if None in found:
            return None
        parameters = self._joined([(part, one.parameters) for part, one in zip(self.parts, found, strict=True)])
        error = 4 * ROUND * sum(abs(one.objective) + abs(one.lower_bound) for one in found)
        upper, lower = (math.fsum(getattr(one, name) for one in found) for name in ("objective", "lower_bound"))
        return Optimum(parameters, upper + error, lower - error)

    def _ceiling(self):
        """Add up those of the parts."""
        terms, total = [], 0.0
        for part in self.parts:
            own, size = part.problem._ceiling()
            terms, total = [*terms, *own], total + size
        return terms, total

    def _notes(self, solution, proved):
        """Tell which kinds were chosen."""
        if not self._by_type:
            return []
        pairs = zip(self.column_names, self.kinds, strict=True)
        return [f"kinds of columns by the types of their entries: {', '.join(map(' '.join, pairs))}"]

    def _points(self):
        """Lay those of the parts side by side; a missing one is the average."""
        found = []
        for part in self.parts:
            points = part.problem._points()
            if part.rows is not None:
                whole = np.zeros((self.n_samples, points.shape[1]))
                whole[part.rows] = points
                points = whole
            found.append(points)
        return np.hstack(found)

    @property
    def _can_sit_on_ties(self):
        return "normal" in self.kinds


def _taken(value, places):
    """Take columns of a parameter."""
    return tuple(value[place] for place in places) if isinstance(value, tuple) else value[:, places]


def _chosen(rows, before, value):
    """Take the rows of `before` in some components, and those of `value` in the others."""
    if isinstance(value, tuple):
        return tuple(_chosen(rows, *pair) for pair in zip(before, value, strict=True))
    return np.where(rows.reshape(-1, *[1] * (value.ndim - 1)), before, value)


def _coded(problem, X):
    """Return rows in the form of a part's `X`."""
    return np.where(np.isnan(X), MISSING, X).astype(np.intp) if isinstance(problem, LatentClass) else X


def _at(problem, X):
    """Return a part's problem with other rows, which are not checked."""
    other = object.__new__(type(problem))
    other.__setstate__({**problem.__dict__, "X": X, "n_samples": len(X)})
    return other
