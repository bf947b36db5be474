"""Samples in blocks of neighbours, of which passes of one component leave out those that it takes nothing of.

Where clusters are apart a cell of one component takes a part of the samples, and of most others so little that no float
tells. A block's costs are linear in what its samples differ from its center by, and in the squares of that: in axes in
which these are long and short, a box holds them.

Theory: (P10) of docs/theory/prices.md.
"""

import math

import numpy as np

from libc.math cimport fabs
from libc.string cimport memcpy

from gopfast.mixtures.data.passes cimport PASS_PAD
from gopfast.mixtures.pricing.margins cimport BLOCKED, NOT_TAKEN, NOT_TAKEN_OF
from gopfast.mixtures.pricing.sample_groups cimport cut_widest
from gopfast.mixtures.pricing.tuning cimport SAMPLES_OF_A_BLOCK as SIZE


cdef class SampleBlocks:
    """
    Blocks of neighbours.

    Parameters
    ----------
    columns : ndarray, shape (d, n)
    weights : ndarray, shape (n,)
    """

    def __init__(self, columns, weights):
        d, n = columns.shape
        self.n_columns, self.n_known, self.n_samples = d, 2 * d, n
        self.n_padded, self.n_blocks = -(-n // PASS_PAD) * PASS_PAD, -(-n // SIZE)
        self.order = np.arange(n, dtype=np.intp)
        with np.errstate(over="ignore"):
            spread = columns.std(axis=1)
        self.sort(np.ascontiguousarray((columns / np.where(spread > 0.0, spread, 1.0)[:, None]).T))
        order = np.asarray(self.order)
        padded = np.concatenate([order, np.repeat(order[-1:], self.n_padded - n)])
        self.columns, self.weights = np.ascontiguousarray(columns[:, padded]), np.zeros(self.n_padded)
        np.asarray(self.weights)[:n] = weights[order]
        self.prices, self.most = np.zeros(self.n_padded), np.zeros(self.n_blocks)
        total = math.fsum(weights)
        self.loss = min(NOT_TAKEN, NOT_TAKEN_OF * total)
        self.far = math.log(self.loss / total) - 1.0
        self.measure(columns[:, np.concatenate([order, np.repeat(order[-1:], self.n_blocks * SIZE - n)])])

    def measure(self, columns):
        """Find what is known of each block, of columns (d, n_blocks SIZE) in the order of the blocks."""
        d = self.n_columns
        x = columns.reshape(d, -1, SIZE).transpose(1, 2, 0)  # (n_blocks, SIZE, d)
        centers = x.mean(axis=1)
        off = x - centers[:, None]
        with np.errstate(over="ignore", invalid="ignore"):
            known = np.concatenate([off, np.square(off)], axis=2)
            middles = known.mean(axis=1)
            rest = known - middles[:, None]
            size = np.abs(rest).max(axis=(1, 2), keepdims=True)
            # blocks whose squares are no floats are never left out, as NaN is not below anything
            rest[~np.isfinite(size[:, 0, 0])] = np.nan
        unit = np.nan_to_num(rest / np.where(size > 0.0, size, 1.0))
        # axes of what is as long as the longest: squares of short differences are short
        _, axes = np.linalg.eigh(unit.transpose(0, 2, 1) @ unit)
        axes = np.ascontiguousarray(axes.transpose(0, 2, 1))
        along = rest @ axes.transpose(0, 2, 1)
        low, high = along.min(axis=1), along.max(axis=1)
        self.centers, self.axes = centers, axes
        self.middles = middles + ((0.5 * (low + high))[:, None] @ axes)[:, 0]
        self.lengths, self.reaches = 0.5 * (high - low), np.abs(off).max(axis=1)

    cdef int sort(self, const real[:, ::1] points) except -1:
        """Sorts samples so that those of every block follow each other, cut by cut across the widest column."""
        cdef index first, last, middle, waiting = 1, stack[128]
        cdef index[::1] order = self.order
        stack[0], stack[1] = 0, self.n_samples
        with nogil:
            while waiting:
                waiting -= 1
                first, last = stack[2 * waiting], stack[2 * waiting + 1]
                if last - first <= SIZE:
                    continue
                middle = first + SIZE * (((last - first + SIZE - 1) // SIZE + 1) // 2)
                cut_widest(points, &order[0], first, last, middle)
                # halves: of n samples no more wait at once than n can be halved
                stack[2 * waiting], stack[2 * waiting + 1] = first, middle
                stack[2 * waiting + 2], stack[2 * waiting + 3] = middle, last
                waiting += 2
        return 0

    def set_prices(self, prices):
        """New prices (n_samples,)."""
        found = np.asarray(self.prices)
        found[:self.n_samples] = prices[np.asarray(self.order)]
        found[self.n_samples:] = found[self.n_samples - 1]
        self.most = np.maximum.reduceat(found[:self.n_samples], np.arange(self.n_blocks) * SIZE)

    cdef real most_saved(self, index block, const pass_costs *costs, const pass_costs *rounding) noexcept nogil:
        cdef int d = self.n_columns, D = self.n_known, j, p
        cdef real cost = -costs.offsets[0], error = rounding.offsets[0], size = fabs(cost), off, reach, slope, along
        cdef real tilts[2 * 16]
        cdef const real *axis
        for j in range(d):
            off, reach = self.centers[block, j] - costs.centers[j], self.reaches[block, j]
            slope = costs.linear[j] + costs.quadratic[j] * off
            cost += off * slope
            tilts[j], tilts[d + j] = slope + costs.quadratic[j] * off, costs.quadratic[j]
            size += (reach + fabs(self.centers[block, j]) + fabs(costs.centers[j])) * (
                fabs(costs.linear[j]) + fabs(costs.quadratic[j]) * (2 * fabs(off) + reach))
            reach += fabs(off)
            error += reach * (rounding.linear[j] + rounding.quadratic[j] * reach)
        for p in range(D):
            axis, along = &self.axes[block, p, 0], 0
            for j in range(D):
                along += axis[j] * tilts[j]
            cost += self.middles[block, p] * tilts[p] - fabs(along) * self.lengths[block, p]
        return self.most[block] - cost + error + BLOCKED * (size + fabs(self.most[block]))

    cdef index gather(self, const pass_costs *costs, const pass_costs *rounding, real *room, index *chosen,
                      pass_data *data, const real **prices) noexcept nogil:
        cdef index b, n_chosen = 0, n = 0, m, at, first, count
        cdef int j, d = self.n_columns
        for b in range(self.n_blocks):
            if not self.most_saved(b, costs, rounding) <= self.far:
                chosen[n_chosen] = b
                n_chosen += 1
                n += min(<index> SIZE, self.n_padded - b * SIZE)
        if n == self.n_padded:
            data.columns, data.weights, prices[0] = &self.columns[0, 0], &self.weights[0], &self.prices[0]
        else:
            data.columns, data.weights, prices[0] = room, room + d * n, room + (d + 1) * n
            at = 0
            for m in range(n_chosen):
                first = chosen[m] * SIZE
                count = min(<index> SIZE, self.n_padded - first)
                for j in range(d):
                    memcpy(room + j * n + at, &self.columns[j, first], count * sizeof(real))
                memcpy(room + d * n + at, &self.weights[first], count * sizeof(real))
                memcpy(room + (d + 1) * n + at, &self.prices[first], count * sizeof(real))
                at += count
        data.n_padded = n
        return n

    def gathered(self, centers, linear, quadratic, constant):
        """For tests: the samples, by their places in the data, of all blocks that may save more than `far`.

        Costs are constant + z (linear + quadratic z), z from the centers, all (d,).
        """
        cdef pass_costs costs, rounding
        cdef pass_data data
        cdef const real *prices
        cdef real[::1] at = np.ascontiguousarray(centers, dtype=np.float64)
        cdef real[::1] first = np.ascontiguousarray(linear, dtype=np.float64)
        cdef real[::1] second = np.ascontiguousarray(quadratic, dtype=np.float64)
        cdef real[::1] nothing = np.zeros(self.n_columns), room = np.zeros((self.n_columns + 2) * self.n_padded)
        cdef index[::1] chosen = np.zeros(self.n_blocks, dtype=np.intp)
        cdef real offset = -constant, none = 0
        costs.centers, costs.linear, costs.quadratic, costs.offsets = &at[0], &first[0], &second[0], &offset
        rounding.centers = rounding.linear = rounding.quadratic = &nothing[0]
        rounding.offsets = &none
        data.n_columns = self.n_columns
        rest, found = self.gather(&costs, &rounding, &room[0], &chosen[0], &data, &prices), []
        for first_of in SIZE * np.asarray(chosen):
            if rest <= 0:
                break
            rest -= SIZE
            found.append(np.asarray(self.order)[first_of:first_of + SIZE])
        return np.concatenate(found) if found else np.zeros(0, dtype=np.intp)
