"""
Mixtures of multinomial distributions, for rows of counts.

Theory: (F12) of docs/theory/families.md.
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.special import gammaln, xlogy

from gopfast import checks
from gopfast.annotations import FloatArray
from gopfast.errors import InputError
from gopfast.mixtures.problems import closed_form, log_gamma
from gopfast.mixtures.problems.categorical import shares
from gopfast.mixtures.problems.priors import DirichletPrior
from gopfast.mixtures.problems.separable import SeparableMixture
from gopfast.mixtures.problems.tuning import MOST_DENSE_ENTRIES


class MultinomialMixture(SeparableMixture):
    """
    Mixture of multinomial distributions: texts, ballots, microbiomes, of any total each.

    The objective is the negative log-likelihood of the counts given the rows' totals, or with a prior the negative log
    posterior density, with all constants::

        p(x_i | p_k) = N_i! / prod_j x_ij! * prod_j p_kj^x_ij,    N_i = sum_j x_ij,
        p_k ~ Dirichlet(alpha, ..., alpha)

    Attributes that are not listed here are those of `gopfast.models.MixtureProblem`.

    Parameters
    ----------
    X : array_like or sparse matrix, shape (n, d)
        Counts: whole numbers of at least 0, of d >= 2 categories. A row of zeros says nothing. A sparse matrix is made
        dense, up to 10^7 entries.
    n_components : int
        Number of components K, from 1 to n.
    prior : None or float
        None: maximum likelihood. alpha: a symmetric Dirichlet prior of each component's probabilities, alpha at least 1
        (below 1 its density is unbounded), which adds alpha - 1 pseudo-counts to every category; the result is the
        maximum a posteriori estimate.
    sample_weight : array_like of shape (n,), optional
        Weights w_i of the rows, at least 0 and not all 0; 1 by default.

    Attributes
    ----------
    X : ndarray, shape (n, d)
        Read-only counts.
    totals : ndarray, shape (n,)
        The N_i.
    parameter_names : tuple of str
        "probabilities" (K, d), rows on the simplex; entries of 0 are allowed, with ``0 log 0 = 0``.

    Raises
    ------
    InputError
        A `ValueError` naming the argument with a bad value, such as counts that are not whole; `InputTypeError` if it
        is of a wrong kind.

    Examples
    --------
    >>> from gopfast.models import MultinomialMixture
    >>> MultinomialMixture([[3, 0, 1], [0, 9, 2], [5, 1, 0]], 2)
    MultinomialMixture(n_samples=3, n_features=3, n_components=2, prior=None)
    """

    parameter_names = ("probabilities",)
    prior: float | None
    _flat_priors = (None, 1.0)
    _on_simplex = True

    def __init__(
        self, X: ArrayLike, n_components: int, *, prior: float | None = None, sample_weight: ArrayLike | None = None
    ) -> None:
        columns, X = checks.column_names(X), _count_rows(X)
        if X.shape[1] < 2:
            raise InputError("X must have at least two columns: of one category all probabilities are 1")
        self._store(X, n_components, sample_weight, prior=DirichletPrior.checked(prior), columns=columns)
        if not self.totals[self.sample_weight > 0.0].any():
            raise InputError("X must have a count above 0 in a row of positive sample_weight")

    @property
    def totals(self) -> FloatArray:
        """Number of counts of each row."""
        return self.X.sum(axis=1)

    @property
    def n_categories(self) -> tuple[int]:
        """Number of categories, of the one variable."""
        return (self.n_features,)

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: K - 1 weights and d - 1 probabilities of each component."""
        return self.n_components * self.n_features - 1

    @property
    def _prior_draws(self) -> list:
        """The Dirichlet prior of each component's probabilities."""
        return [] if self.prior is None else [(DirichletPrior(self.prior, self.n_features), self.n_components)]

    def _notes(self, solution, proved):
        """Say that few counts in every row need not tell components apart (Kim 1984)."""
        needed, most = 2 * self.n_components - 1, self.totals.max()
        if self.n_components == 1 or self.prior not in self._flat_priors or most >= needed:
            return []
        return [
            f"no row has {needed} counts: the probabilities need not be unique, even up to the components' order; the "
            "value is proved nevertheless"
        ]

    def _rows_like(self, X):
        """Check that they are counts of as many categories."""
        return checks.of_columns("X", _count_rows(X), self.n_features)

    def _drawn_rows(self, X, rng):
        return X

    def _draw(self, rng, components, parameters):
        """Draw totals from those of the data, then counts."""
        totals = rng.choice(self.totals, len(components), p=self.sample_weight / self.total_weight).astype(np.int64)
        table = parameters["probabilities"] / parameters["probabilities"].sum(axis=1, keepdims=True)
        return rng.multinomial(totals, table[components]).astype(float)

    def _check_values(self, probabilities):
        array = checks.real_array("probabilities", probabilities)
        checks.of_shape("probabilities", array, (self.n_components, self.n_features))
        return (checks.simplex("probabilities", array),)

    def _log_kernel(self, parameters):
        """Compare Poisson probabilities of the counts with that of their total, so that large counts keep digits."""
        totals = self.totals
        of_total = log_gamma.poisson_cost(totals, totals)[0]
        rows = [log_gamma.poisson_cost(self.X, totals[:, np.newaxis] * p)[0].sum(axis=1)
                for p in parameters["probabilities"]]  # fmt: skip
        return of_total[:, np.newaxis] - np.stack(rows, axis=1)

    def _label_statistics(self, mass):
        """Return the counts of the categories in each component, (K, d), the prior's own added, in a list of one."""
        return [mass.T @ self.X + ((self.prior or 1.0) - 1.0)]

    def _m_step(self, mass, weights, former):
        (counts,) = self._label_statistics(mass)
        return {"probabilities": shares(counts, former["probabilities"] if former else None)}

    def _record_of_proof(self):
        """Name the prior."""
        return {"family": "multinomial", "n_components": self.n_components, "prior": self.prior}

    def _coordinates(self, blocks):
        """Take the logarithms of the probabilities."""
        return {"probabilities": blocks.Shares(self)}

    def _points(self):
        """Take roots of the shares, whose distances are Hellinger's; of a row of zeros those of all rows."""
        totals = self.totals[:, np.newaxis]
        pooled = self.sample_weight @ self.X
        return np.sqrt(np.where(totals > 0.0, self.X / np.where(totals > 0.0, totals, 1.0), pooled / pooled.sum()))

    def _coefficients_of(self, X, w):
        """Return the logarithms of the rows' multinomial coefficients, negative and weighted, and their sizes."""
        totals, parts = gammaln(X.sum(axis=1) + 1.0), gammaln(X + 1.0)
        return w * (parts.sum(axis=1) - totals), w * (np.abs(parts).sum(axis=1) + np.abs(totals) + 1.0)

    def _closed_form(self, X, w):
        """Match the shares of the categories."""
        constants, sizes = ([pair[i] for pair in self._prior_constants()] for i in range(2))
        values, more = self._coefficients_of(X, w)
        constants, sizes = [*constants, math.fsum(values)], [*sizes, math.fsum(more)]
        counts = closed_form.totals(w[:, np.newaxis] * X) + ((self.prior or 1.0) - 1.0)
        total = math.fsum(counts)
        # All but the largest are at most half of the total: nothing cancels.
        largest, others = counts.argmax(), total - counts
        others[largest] = math.fsum(np.delete(counts, largest))
        terms = [*constants, *closed_form.shares(counts, others)]
        found = closed_form.settled({"probabilities": (counts / total)[np.newaxis]}, terms, sizes)
        return closed_form.at_floats(found, [*constants, *-xlogy(counts, counts / total)], sizes)

    def _family(self):
        """Take counts as they are, as columns of one variable's labels, of which a row has several."""
        from gopfast.mixtures.families.columns import family, merged  # compiled, as problems are not

        used, d, more = self.sample_weight > 0.0, self.n_features, (self.prior or 1.0) - 1.0
        values, sizes = self._coefficients_of(self.X[used], self.sample_weight[used])
        return family(
            self, *merged(self.X[used], self.sample_weight[used]), ["label"] * d, [d * more] * d, [more] * d,
            groups=np.zeros(d, dtype=int), constants=[*self._prior_constants(), (math.fsum(values), math.fsum(sizes))],
            decode=np.array, encode=np.array,
        )  # fmt: skip


def _count_rows(X):
    """Return counts (n, d), a sparse matrix made dense."""
    if sparse.issparse(X):
        if math.prod(X.shape) > MOST_DENSE_ENTRIES:
            raise InputError(
                f"X must have at most {MOST_DENSE_ENTRIES:g} entries to be made dense; got shape {X.shape}: leave out "
                "rare categories, or pool them"
            )
        X = X.toarray()
    X = checks.at_least("X", checks.data_matrix("X", X), 0.0)
    broken = X[X != np.floor(X)]
    if broken.size:
        raise InputError(f"X must hold counts, whole numbers of at least 0; got {broken[0]:g}")
    # Beyond this, neighbouring counts are the same float.
    if X.sum(axis=1).max() > 2.0**53:
        raise InputError(f"X must have rows of at most 2^53 counts; got one of {X.sum(axis=1).max():g}")
    return X
