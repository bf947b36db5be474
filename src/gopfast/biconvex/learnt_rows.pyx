"""Rows that the root's programs were found to need, for the programs of all nodes of a biconvex problem.

Theory: (X4) of docs/theory/biconvex.md.
"""

import numpy as np

from gopfast.biconvex import cycles
from gopfast.search import entries

from libc.string cimport memcpy

from gopfast.biconvex.data cimport BiconvexData
from gopfast.biconvex.tuning cimport CUTS_A_ROUND, CUT_GRID, CYCLES_EACH, LEAST_EIGENVALUE, MOST_CYCLES, MOST_OF_A_SET
from gopfast.search.types cimport index, real

cdef real LARGEST_ENTRY = 1e300     # of a cut's vector that was read from a file


cdef class LearntRows:
    """Lifted rows, semidefinite cuts and cycles: found while the root is bounded, then chosen for good."""

    def __init__(self, BiconvexData data):
        cdef int k
        self.data = data
        self.known_cycles, self.cycle_start = set(), ints(1)
        own = [(data.first[k], data.second[k]) for k in range(data.n_products) if data.own[k]]
        if cycles.has_any(own):
            self.most_cycles = min(<int> MOST_CYCLES, CYCLES_EACH * <int> len(own))
            self.cycle_start = ints(self.most_cycles + 1)
            self.cycle_product = ints(cycles.LONGEST * self.most_cycles)
            self.cycle_sign = ints(cycles.LONGEST * self.most_cycles)
        self.cycle_needed = ints(self.most_cycles)
        self.cut_moment, self.cut_needed = ints(MOST_CUTS), ints(MOST_CUTS)
        widest = np.diff(np.asarray(data.moment_start)).max() if data.n_moments else 0
        self.cut_vector = np.zeros((MOST_CUTS, 1 + widest))
        self.kept, self.needed = ints(data.n_lifted), ints(data.n_lifted)

    cdef int most(self) noexcept nogil:
        """The most rows that there may be."""
        return self.data.n_lifted + (<int> MOST_CUTS if self.data.n_moments else 0) + self.most_cycles

    cdef void choose(self) noexcept nogil:
        """After the root: what it did not need is dropped."""
        cdef int t
        if not self.chosen:
            self.chosen = True
            for t in range(self.data.n_lifted):
                self.kept[t] = self.needed[t]
            self.keep_cuts()
            self.keep_cycles()

    def state(self):
        """The rows and cuts that the root has chosen for all nodes."""
        cdef index n = self.n_cuts, n_entries = self.cycle_start[self.n_cycles]
        product = sign = np.zeros(0, dtype=np.intc)
        if self.n_cycles > 0:
            product, sign = np.array(self.cycle_product[:n_entries]), np.array(self.cycle_sign[:n_entries])
        return {
            "chosen": self.chosen, "kept": np.array(self.kept), "cut_moment": np.array(self.cut_moment[:n]),
            "cut_vector": np.array(self.cut_vector[:n]),
            "cycle_start": np.array(self.cycle_start[:self.n_cycles + 1]), "cycle_product": product, "cycle_sign": sign,
        }

    def restore(self, state):
        """Take what `state` returned."""
        cdef int widest = <int> self.cut_vector.shape[1]
        self.chosen = entries.flag(state, "chosen")
        np.asarray(self.kept)[:] = entries.array(state, "kept", np.shape(self.kept), "i", 0, 1)
        moment = entries.array(state, "cut_moment", (None,), "i", 0, self.data.n_moments - 1)
        if len(moment) > MOST_CUTS:
            raise entries.EntryError(f"cut_moment must be at most {MOST_CUTS} cuts; they are {len(moment)}")
        vector = entries.array(state, "cut_vector", (len(moment), widest), "f", -LARGEST_ENTRY, LARGEST_ENTRY)
        self.n_cuts = <int> len(moment)
        np.asarray(self.cut_moment)[:self.n_cuts] = moment
        np.asarray(self.cut_vector)[:self.n_cuts] = vector
        self.restore_cycles(state)

    def restore_cycles(self, state):
        """Take the cycles of what `state` returned."""
        starts = entries.array(state, "cycle_start", (None,), "i", 0, cycles.LONGEST * self.most_cycles)
        if not 0 < len(starts) <= self.most_cycles + 1 or starts[0] != 0 or (
                len(starts) > 1 and not 0 < np.diff(starts).min() <= np.diff(starts).max() <= cycles.LONGEST):
            raise entries.EntryError("cycle_start must divide the products of cycles")
        n = int(starts.max())
        product = entries.array(state, "cycle_product", (n,), "i", 0, self.data.n_products - 1)
        sign = entries.array(state, "cycle_sign", (n,), "i", -1, 1)
        self.n_cycles = 0
        for t in range(len(starts) - 1):
            part = slice(int(starts[t]), int(starts[t + 1]))
            self.add_cycle(product[part].tolist(), sign[part].tolist())

    cdef void forget(self) noexcept nogil:
        """No lifted row: the root's programs take those that they violate."""
        cdef int t
        for t in range(self.data.n_lifted):
            self.kept[t] = 0

    cdef void keep_cuts(self) noexcept nogil:
        """Drops the cuts that the root did not need."""
        cdef int t, n = 0
        for t in range(self.n_cuts):
            if self.cut_needed[t]:
                self.cut_moment[n] = self.cut_moment[t]
                memcpy(&self.cut_vector[n, 0], &self.cut_vector[t, 0], self.cut_vector.shape[1] * sizeof(real))
                n += 1
        self.n_cuts = n

    cdef int find_cuts(self, const real *x) except -1:
        """Adds cuts for the eigenvectors of negative eigenvalues of the moment matrices at x (n_cols,)."""
        columns = np.array(<real[:self.data.n_cols]> <real *> x)
        for g in range(self.data.n_moments):
            matrix = self.data.moment_matrix_at(g, columns)
            if not np.isfinite(matrix).all():
                continue
            eigenvalues, vectors = np.linalg.eigh(matrix)
            known = np.count_nonzero(np.asarray(self.cut_moment)[:self.n_cuts] == g)
            for e in range(min(len(matrix), CUTS_A_ROUND, MOST_OF_A_SET - known)):
                if self.n_cuts == MOST_CUTS or eigenvalues[e] > -LEAST_EIGENVALUE:
                    break
                v = np.round(vectors[:, e] * CUT_GRID) / CUT_GRID
                if v @ matrix @ v < -0.5 * LEAST_EIGENVALUE:
                    self.cut_moment[self.n_cuts], self.cut_needed[self.n_cuts] = g, 1
                    np.asarray(self.cut_vector)[self.n_cuts, : len(v)] = v
                    self.n_cuts += 1
        return 0

    cdef int find_cycles(self, const real *x, const real *low, const real *high) except -1:
        """Adds cycles that the solution x (n_cols,) of a program over a box violates."""
        cdef int n = self.data.n, P = self.data.n_products
        columns = np.array(<real[:self.data.n_cols]> <real *> x)
        box = np.array(<real[:n]> <real *> low), np.array(<real[:n]> <real *> high)
        if np.isfinite(columns[:n]).all():
            # products that are there for other rows alone have not all of McCormick's, and take any value
            w = np.where(np.asarray(self.data.own)[:P] != 0, columns[n : n + P], np.nan)
            for products, signs in cycles.violated(
                    np.asarray(self.data.first)[:P], np.asarray(self.data.second)[:P], *box, columns[:n], w,
                    self.known_cycles):
                if self.n_cycles == self.most_cycles:
                    break
                self.add_cycle(products, signs)
        return 0

    cdef int add_cycle(self, products, signs) except -1:
        cdef int at = self.cycle_start[self.n_cycles]
        for product, sign in zip(products, signs):
            self.cycle_product[at], self.cycle_sign[at] = product, sign
            at += 1
        self.cycle_needed[self.n_cycles] = 1
        self.n_cycles += 1
        self.cycle_start[self.n_cycles] = at
        return 0

    cdef void keep_cycles(self) noexcept nogil:
        """Drops the cycles that the root did not need, and all where they hardly raised its bound."""
        cdef int t, e, at = 0, n = 0
        for t in range(self.n_cycles):
            if self.cycles_pay and self.cycle_needed[t]:
                for e in range(self.cycle_start[t], self.cycle_start[t + 1]):
                    self.cycle_product[at], self.cycle_sign[at] = self.cycle_product[e], self.cycle_sign[e]
                    at += 1
                n += 1
                # behind what is read next: cycles move forward only
                self.cycle_needed[n - 1] = at
        for t in range(n):
            self.cycle_start[t + 1] = self.cycle_needed[t]
        self.n_cycles = n


cdef object reals(index n):
    """Zeros, one at least, so that their address can be taken."""
    return np.zeros(max(n, 1))


cdef object ints(index n):
    return np.zeros(max(n, 1), dtype=np.intc)
