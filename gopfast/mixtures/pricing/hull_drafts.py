"""
Bounds of cells that some of the samples let hope for; of others all samples are not asked.

A cell whose bound would exceed what is asked for is divided, whatever the bound is, and some of the samples say so
nearly as well as all do. They prove nothing: what is said of a cell is infinite, or the bound by all samples.

Theory: (Y5) of docs/theory/hull.md.
"""

import numpy as np

from gopfast.mixtures.pricing.tuning import (
    HULL_DRAFT as DRAFT,
    HULL_DRAFT_GAIN as GAIN,
    HULL_DRAFT_MARGIN as MARGIN,
    HULL_DRAFTED as DRAFTED,
)


class Drafted:
    """
    Cells by all samples, where some of them say that it is of use.

    Parameters
    ----------
    all_samples, draft : HullCells
        Of the same coordinates; the second of some samples, whose weights stand for all. None if all samples are few.
    """

    def __init__(self, all_samples, draft):
        self.all_samples, self.draft = all_samples, draft

    @property
    def n_terms(self):
        """Samples that were looked at so far."""
        return self.all_samples.n_terms + (0 if self.draft is None else self.draft.n_terms)

    def bound(self, low, high, log_precision, log_scale, enough, tables=None, raised=None, known=None):
        """
        Return bounds (m,) of cells, infinite where the draft has no hope of them, and scales (m,).

        All samples are asked where the draft finds about `enough`, or much less than `known` (m,), what is known of a
        cell: else a search that is ended before it is done would have proved little.
        """
        if self.draft is None:
            return self.all_samples.bound(low, high, log_precision, log_scale, enough, tables, raised)
        told, scales = self.draft.bound(low, high, log_precision, log_scale, enough, tables, raised)

        def ask(at):
            of_clusters = None if tables is None else (tables[0], *(row[at] for row in tables[1:]))
            more = None if raised is None else raised[at]
            return self.all_samples.bound(low[at], high[at], log_precision[at], scales[at], enough, of_clusters, more)

        return _asked(told <= np.maximum(MARGIN * enough, 0.0 if known is None else GAIN * known), scales, ask)


class DraftedShells(Drafted):
    """The same of shells, `Shells` both."""

    def bound(self, low, high, log_scale, raised, enough, precision, places=None):
        """Return bounds (m,) of shells, infinite where the draft finds more than `enough`, and scales (m,)."""
        if self.draft is None:
            return self.all_samples.bound(low, high, log_scale, raised, enough, precision, places)
        told, scales = self.draft.bound(low, high, log_scale, raised, enough, precision, places)

        def ask(at):
            own = None if places is None else places[at]
            return self.all_samples.bound(low[at], high[at], scales[at], raised[at], enough, precision[at], own)

        return _asked(told <= MARGIN * enough, scales, ask)


def _asked(hoped, scales, ask):
    """Return bounds (m,), infinite but for those hoped for, (m,), of which all samples are asked, and scales (m,)."""
    values, at = np.full(len(hoped), np.inf), np.flatnonzero(hoped)
    if len(at):
        values[at], scales[at] = ask(at)
    return values, scales


def with_draft(make, order, weights, labels, n_columns):
    """
    Return what is made of all samples, and the same of some that stand for all, None if all are few.

    Parameters
    ----------
    make : callable
        Of samples (m,), by their places, and their weights (m,).
    order : ndarray of int, shape (n,)
        Near ones follow each other.
    weights : ndarray, shape (n,)
    labels : ndarray of int, shape (n,)
        Each label keeps its weight.
    n_columns : int
        d: forms of a direction are larger of few samples, by the root of that over their number.
    """
    n, all_of = len(weights), np.bincount(labels, weights)
    whole, step = make(order, weights[order]), int(n // (DRAFT * n_columns * len(all_of)))
    if step < DRAFTED:
        return whole, None
    some = order[::step]
    drawn = np.bincount(labels[some], weights[some], len(all_of))
    scale = all_of / np.where(drawn > 0.0, drawn, 1.0)
    return whole, make(some, weights[some] * scale[labels[some]])
