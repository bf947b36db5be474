"""The solve of a problem of clusterwise least squares: coordinates, search by boxes of coefficients, report.

Its loop, clock and end are those of k-means.

Theory: (JL6) and (JL7) of docs/theory/clusterwise.md.
"""

import math

import numpy as np

from gopfast.clustering import solve as clustering
from gopfast.clusterwise import checkpoint
from gopfast.clusterwise.margins import EXACT, LIGHTEST, OF_WEIGHTS
from gopfast.clusterwise.node import Node
from gopfast.clusterwise.pool import Pool
from gopfast.clusterwise.pricing import FitSearch
from gopfast.clusterwise.problem import ClusterwiseRegression
from gopfast.clusterwise.proof import with_proof
from gopfast.clusterwise.result import ClusterwiseFit, ClusterwiseResult
from gopfast.clusterwise.tuning import MOST_CELLS
from gopfast.errors import InputError
from gopfast.mixtures.families.design import design_of
from gopfast.result import CLOSED_FORM, Status


class Search(clustering.Search):
    """
    Search of a problem; coordinates are a regression's values at q samples, in units of about a residual.

    Parameters
    ----------
    problem : ClusterwiseRegression
    options : Options
    start : ndarray of int, shape (n,), or None
        Labels to start from, beside the own draws.
    """

    most_cells, arrays = MOST_CELLS, checkpoint

    def prepare(self):
        """Distinct samples of positive weight in the core's coordinates."""
        problem = self.problem
        used = np.flatnonzero(problem.sample_weight > 0.0)
        heaviest = problem.sample_weight.max()
        self.mass = 2.0 ** math.floor(math.log2(heaviest))
        X, y, weights = problem.X[used], problem.y[used], problem.sample_weight[used] / self.mass
        self.labels = None
        one = problem.fit(np.zeros(problem.n_samples, dtype=int))
        self.offer(np.zeros(problem.n_samples, dtype=int), one[2])
        residuals = y - problem.predict(X, *one[:2])[:, 0]
        size = np.abs(residuals).max()
        self.unit = 2.0 ** math.floor(math.log2(size)) if size > 0.0 else 1.0
        self.scale = self.unit * self.unit * self.mass
        one_class = problem.n_clusters == 1 and self.proof is None
        self.closed_form = one[2] == 0.0 or one_class or len(used) <= problem.n_clusters
        self.fits_all = not self.scale > 0.0
        if self.closed_form or self.fits_all:
            self.Z, self.y, self.weights = np.zeros((0, 1)), np.zeros(0), np.zeros(0)
            self.X, self.box = self.Z, (np.zeros(1), np.zeros(1))
            return
        try:
            design = design_of(X, y, weights, self.unit, problem.fit_intercept)
        except ZeroDivisionError:
            raise InputError("X: regressors depend on each other but for rounding") from None
        self.design, self.box = design, (design.low, design.high)
        heavy = weights >= LIGHTEST * weights.max()
        if not heavy.all():
            self.session.note(clustering.LEFT_OUT)
        rows, inverse = np.unique(np.column_stack([design.z.T, design.y])[heavy], axis=0, return_inverse=True)
        self.of = used[heavy]
        self.row_of = inverse.reshape(-1)
        self.weights = np.bincount(self.row_of, weights[heavy])
        self.Z, self.y = np.ascontiguousarray(rows[:, :-1]), np.ascontiguousarray(rows[:, -1])
        self.X = self.Z

    def make_pool(self):
        """Make what searches for classes."""
        self.fits = FitSearch(self.Z, self.y, self.weights, self.stop)
        pool = Pool(self.fits, self.Z, self.y, self.weights, self.box, self.problem.n_clusters, self.options.seed)
        pool.shrinks = self.proof is None
        return pool

    def proved(self, result):
        """Return the result with its proof."""
        return with_proof(self, result)

    def in_users_units(self, value):
        """Return a bound in the core's units in the user's, less what adding weights of equal samples may have cost."""
        loss = OF_WEIGHTS * (self.problem.n_samples + 16)
        return max(0.0, math.nextafter(max(0.0, value * (1.0 - loss)) * self.scale, 0.0))

    def labels_of(self, fits):
        """Return every sample's class by coefficients (K, q) in the core's coordinates."""
        labels = np.zeros(self.problem.n_samples, dtype=np.intp)
        found = self.design.in_users(fits)
        light = self.problem.assign(found["coefficients"], found.get("intercepts"))
        labels[:] = light
        labels[self.of] = np.abs(self.y[:, np.newaxis] - self.Z @ fits.T).argmin(axis=1)[self.row_of]
        return labels

    def offer_scaled(self, centers):
        """Take the classes of coefficients in the core's units, if they are the best."""
        return self.offer(self.labels_of(centers))

    def offer(self, labels, objective=None):
        """Take labels, if they are the best."""
        objective = self.problem.objective(labels) if objective is None else objective
        if objective < self.upper or self.labels is None:
            self.upper, self.labels, self.centers = objective, labels, labels
            return True
        return False

    def trivial(self):
        """Solve what needs no search; the name of the method, None if there is none."""
        problem, used = self.problem, self.problem.sample_weight > 0.0
        if problem.n_clusters > 1 and used.sum() <= problem.n_clusters:
            labels = np.zeros(problem.n_samples, dtype=np.intp)
            labels[used] = np.arange(used.sum())
            self.offer(labels)
        elif not self.closed_form:
            return None
        # of one class, or of one sample each, the value is exact, but for being rounded up
        self.lower = math.nextafter(self.upper, 0.0)
        self.report(new=True)
        return CLOSED_FORM

    def begin(self):
        """Find classes, and open the root."""
        if self.fits_all:
            return
        share = self.limit * clustering.FIRST_SHARE
        start = None
        if self.start is not None:
            coefficients, intercepts, _ = self.problem.fit(self.start)
            start = self.design.in_core(coefficients, intercepts)
        self.pool.fill(lambda: self.stop.stopped or self.seconds() > share, start)
        new = self.offer_scaled(self.pool.fits)
        if self.pool.inertia <= self.weights.sum() * np.square(EXACT * np.abs(self.y).max()):
            self.report(0, new)  # but for rounding the classes' samples lie on their regressions: 0 is the bound
            return
        self.root = Node([(*self.box, self.problem.n_clusters)])
        self.replace(None, [self.root])
        self.raise_lower()
        self.report(1, new)

    def result(self, method):
        """Make the result."""
        upper, status = self.upper, self.status()
        if not self.history:
            self.history.append((self.elapsed(), self.n_nodes, min(self.lower, upper), upper, 0))
        lower = min(self.lower, upper)
        coefficients, intercepts, _ = self.problem.fit(self.labels)
        order = np.lexsort((*coefficients.T[::-1], intercepts))
        place = np.empty(len(order), dtype=np.intp)
        place[order] = np.arange(len(order))
        labels = place[self.labels]
        weightless = self.problem.sample_weight == 0.0
        if weightless.any():
            labels[weightless] = self.problem.assign(coefficients[order], intercepts[order])[weightless]
        return ClusterwiseResult(
            status=status, objective=upper, lower_bound=lower,
            solution=ClusterwiseFit(coefficients[order], intercepts[order], labels, upper), n_nodes=self.n_nodes,
            n_subproblems=self.n_cells, n_lps=self.n_programs, time=self.elapsed(), notes=self.session.notes,
            history=self.history, starts=self.pool.starts(self.scale) if self.pool.ends else None, relaxation=method,
            branching="coefficients" if method == "pricing" else "",
            rounding_margin=upper - lower if status == Status.NUMERICAL else 0.0,
        )  # fmt: skip


def solve(problem: ClusterwiseRegression, options, start=None, proof=None, stored=None):
    """
    Solve a problem of clusterwise least squares.

    `start` has labels (n,), or is a result or a fit; `proof` and `stored` are as of `gopfast.clustering.solve.Search`.
    """
    clustering.check_options(options, "clusterwise")
    if start is not None:
        start = problem.check_labels(getattr(start, "labels", start), "start")
    if proof is not None:
        options.refuse(("checkpoint",), "with a proof, whose nodes are kept in memory")
    search = Search(problem, options, start, proof, stored)
    with search.session.monitor.watching():
        result = search.run()
    search.session.monitor.finish(result)
    return result
