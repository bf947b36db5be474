"""What blocks of columns prove of all mixtures, kept for a proof: the cells of each at its best prices.

Theory: (VB1) of docs/theory/proof_blocks.md.
"""

import math

import numpy as np

from gopfast.mixtures.cell_record import Cells
from gopfast.mixtures.hull_record import HullRecord
from gopfast.mixtures.pricing.cover import best_weights
from gopfast.mixtures.statement import BlockStatement


class BlockRecord(Cells):
    """
    Cells of one block, and those that have proved the most.

    Parameters
    ----------
    statement : Statement
        Of the block's columns.
    own : ndarray of int
        The user's numbers of these columns, ascending.
    copies : int
        How many times each counts.

    Attributes
    ----------
    bound : GroupedBound or None
        What tells it of cells, while it is at work.
    lower : float
        What the cells that are kept prove of the block, in nats of all copies and the core's units.
    kept : tuple or None
        These cells, as `Cells.told` returns them.
    """

    def __init__(self, statement, own, copies):
        super().__init__(statement)
        self.own, self.copies, self.bound, self.lower, self.kept = own, copies, None, -math.inf, None

    def keep(self, pricing, prices, lower):
        """Keep the cells at hand in place of others that prove less."""
        if lower > self.lower:
            self.lower, self.kept = lower, self.told(pricing, prices, self.copies)

    def settle(self):
        """Keep what the bound has come to, and forget it."""
        if self.bound is not None:
            self.bound.keep_cells()
            self.bound = None
            self.begin()


class BlockRecords:
    """
    The records of all blocks of a search.

    Parameters
    ----------
    statement : Statement
        Of all columns.

    Attributes
    ----------
    hull : HullRecord
        Of what is proved of all columns in the hull of a mixture's means.
    """

    def __init__(self, statement):
        self.statement, self.records, self.hull = statement, [], HullRecord(statement)

    def of_all(self):
        """Return a new record of all columns, each of which counts once."""
        return self._taken(BlockRecord(self.statement, np.arange(len(self.statement.order)), 1))

    def of_block(self, family, columns, copies):
        """Return a new record of a block; parameters are those of `BlockStatement`."""
        statement = BlockStatement(self.statement, family, columns, copies)
        return self._taken(BlockRecord(statement, statement.own, copies))

    def _taken(self, record):
        self.records.append(record)
        return record

    def settle(self):
        """Keep what blocks have come to, once they are at work no more."""
        for record in self.records:
            record.settle()

    def nothing(self):
        """Return the proof's arrays without blocks."""
        d, n_samples = len(self.statement.order), len(self.statement.bounds.columns)
        return {
            "blocks": np.zeros((0, d)), "block_weights": np.zeros(0), "block_sizes": np.zeros((0, 2)),
            "block_prices": np.zeros((0, n_samples)), "block_cells": np.zeros((0, 4)), "block_points": np.zeros(0),
            "block_leaves": np.zeros(0), "block_slopes": np.zeros((0, self.statement.bounds.n_slopes)),
            "block_scales": np.zeros(0),
        }  # fmt: skip

    def arrays(self):
        """Return the proof's arrays of the blocks that together prove the most."""
        self.settle()
        known = [record for record in self.records if record.kept is not None]
        if not known:
            return self.nothing()
        d = len(self.statement.order)
        members = np.zeros((len(known), d), dtype=np.int32)
        for row, record in zip(members, known, strict=True):
            row[record.own] = record.copies
        weights = best_weights(np.array([record.lower for record in known]), members)
        if len(known) == 1:
            weights = np.ones(1) / known[0].copies
        used = weights > 0.0
        chosen = [record for record, is_used in zip(known, used, strict=True) if is_used]
        if not chosen:
            return self.nothing()
        prices, splits, points, labels, slopes, scales = zip(*(record.kept for record in chosen), strict=True)
        wide = [np.zeros((len(part), self.statement.bounds.n_slopes)) for part in slopes]
        for part, own, record in zip(wide, slopes, chosen, strict=True):
            is_all = own.shape == part.shape  # whatever the family's slopes are
            part[:, slice(None) if is_all else np.concatenate([record.own, d + record.own])] = own
        sizes = [[len(part), len(own)] for part, own in zip(points, labels, strict=True)]
        return {
            "blocks": members[used], "block_weights": weights[used], "block_sizes": np.array(sizes),
            "block_prices": np.array(prices), "block_cells": np.concatenate(splits),
            "block_points": np.concatenate(points), "block_leaves": np.concatenate(labels),
            "block_slopes": np.concatenate(wide), "block_scales": np.concatenate(scales),
        }  # fmt: skip
