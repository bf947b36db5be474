"""
What a component can save that takes parts of several labels, between two lists of parts.

Theory: (OL2), (OL4) and (OL5) of docs/theory/shares.md.
"""

import numpy as np

from libc.math cimport INFINITY, log, log1p

from gopfast.search.types cimport index, real


cdef enum:
    MOST_LABELS = 5
    MOST_NODES = 9              # of a tree: 2 MOST_LABELS - 1
    MOST_DIRECTIONS = 64


cdef inline real mixing(real a, real b) noexcept nogil:
    """Two masses' sum times the entropy of their shares of it, in nats; it increases in both."""
    if not (a > 0.0 and b > 0.0):
        return 0.0
    return a * log1p(b / a) + b * log1p(a / b)


cdef class ShareBoxes:
    """
    Tables of parts of labels, for boxes of parts.

    Parameters
    ----------
    tables : SimpleNamespace
        Arrays by the names below: K labels, P parts from 0 to 1, Q shares of the floor that are added, D directions, R
        of each pair of labels, and C cells of a displacement.

        shares (K,) of the labels; parts (P,); lost (Q, K, P) by parts of one label each; thin (K, P) least variances;
        ratio (K, K) at most of two labels' variances in any direction; floor_of (K,): that of each label, in its units;
        noise: a number; added (Q,);
        places, floors (K, D), (D,); high, low, wide (K, D, P) displacements and second moments; pair (K, K) numbers of
        pairs; pair_ways (n_pairs, R); moved (n_pairs, 2, R, P); spread (n_pairs, 2, R, P, C);
        trees (T, K - 1, 2) of labels that are merged, as bits.
    """

    cdef readonly object tables
    cdef const real[::1] shares, parts, added, floors, floor_of
    cdef const real[:, :, ::1] lost, high, low, wide, alone
    cdef const real[:, :, :, ::1] between_parts
    cdef readonly real price
    cdef const real[:, ::1] thin, ratio, places
    cdef const real[:, :, :, ::1] moved
    cdef const real[:, :, :, :, ::1] spread
    cdef const index[:, ::1] pair, pair_ways
    cdef const index[:, :, ::1] trees
    cdef real noise, floor, most_ratio
    cdef int d, K

    def __init__(self, tables, int d):
        self.tables, self.d = tables, d
        self.shares, self.parts, self.added, self.floors = tables.shares, tables.parts, tables.added, tables.floors
        self.lost, self.high, self.low, self.wide = tables.lost, tables.high, tables.low, tables.wide
        self.thin, self.ratio, self.places = tables.thin, tables.ratio, tables.places
        self.moved, self.spread = tables.moved, tables.spread
        self.pair, self.pair_ways, self.trees = tables.pair, tables.pair_ways, tables.trees
        self.noise, self.floor_of = tables.noise, tables.floor_of
        self.floor = min(tables.floor_of)
        self.K = self.shares.shape[0]
        if self.K > MOST_LABELS or self.floors.shape[0] > MOST_DIRECTIONS:
            raise ValueError("too many labels, or directions")

    def take_price(self, real price, alone, between_parts):
        """
        Set what all of a label costs, in nats per unit of the samples' weight.

        Parameters
        ----------
        price : float
        alone : ndarray, shape (Q, K, P)
            What each part pays and loses, alone.
        between_parts : ndarray, shape (Q, K, levels, P)
            The most of it between a part of the table and that 2 to the level beyond.
        """
        self.price, self.alone, self.between_parts = price, alone, between_parts

    def most(
        self, const index[:, ::1] low, const index[:, ::1] high, real enough=-INFINITY, index[::1] tree=None,
        index n_tried=1_000_000,
    ):
        """
        Return what a component saves at most, less the price, for each of several boxes of parts.

        Parameters
        ----------
        low, high : ndarray, shape (m, K)
            Places in `parts`.
        enough : float
            Values of at most this need not be the least.
        tree : ndarray, shape (m,), optional
            IN/OUT: the tree that is tried first, and the best one.
        n_tried : int
            Trees that are tried at most: beside that one others in turn, so that parts of a box have others.

        Returns
        -------
        ndarray, shape (m,)
            In nats per unit of weight, not rounded up.
        """
        cdef index i, m = low.shape[0], at = 0
        cdef bint is_kept = tree is not None
        found = np.empty(m)
        cdef real[::1] value = found
        with nogil:
            for i in range(m):
                if is_kept:
                    at = tree[i]
                value[i] = self.of_box(&low[i, 0], &high[i, 0], enough, &at, i, n_tried)
                if is_kept:
                    tree[i] = at
        return found

    cdef real of_box(
        self, const index *low, const index *high, real enough, index *at, index turn, index n_tried
    ) noexcept nogil:
        cdef int K = self.K, a, b, q
        cdef index U = self.floors.shape[0], T = self.trees.shape[0], u, t, first = 0
        cdef real ql[MOST_LABELS]
        cdef real qh[MOST_LABELS]
        cdef real wl[MOST_LABELS]
        cdef real wh[MOST_LABELS]
        cdef real Tl = 0.0, Th = 0.0, paid = 0.0, least = INFINITY, beside, most, own, part, one, best = INFINITY
        cdef real width[MOST_DIRECTIONS]
        cdef real x0[MOST_NODES][MOST_DIRECTIONS]
        cdef real x1[MOST_NODES][MOST_DIRECTIONS]
        cdef real alone = INFINITY, helped = INFINITY, price = self.price
        for a in range(K):
            ql[a], qh[a] = self.shares[a] * self.parts[low[a]], self.shares[a] * self.parts[high[a]]
            Tl += ql[a]
            Th += qh[a]
            paid += self.parts[high[a]] * price
            least = min(least, self.thin[a, low[a]])
        if not Th > 0.0:
            return -price
        for a in range(K):
            wl[a] = ql[a] / (ql[a] + (Th - qh[a])) if ql[a] > 0.0 else 0.0
            wh[a] = min(1.0, qh[a] / (qh[a] + (Tl - ql[a]))) if qh[a] > 0.0 else 0.0
        # the least variance of all parts together, in units of the labels' own
        most = least
        for a in range(K):
            beside, one = 0.0, 0.0
            for b in range(K):
                if b != a:
                    beside += min(wh[b], 1.0 - wl[a]) * self.ratio[b, a]
                    one = max(one, self.ratio[b, a])
            beside = min(beside, (1.0 - wl[a]) * one)
            if wl[a] > 0.0 and self.thin[a, low[a]] > least:
                most = max(most, least + wl[a] / (wl[a] + beside) * (self.thin[a, low[a]] - least))
        for q in range(self.added.shape[0]):
            own = 0.0
            for a in range(K):
                own += self.of_part(q, a, low[a], high[a])
            for a in range(K):
                own = min(own, paid + self.beside(q, a, low, ql, qh))
            if self.added[q] > 0.0 or most > 0.0:
                part = log((most + self.noise) / (most + self.added[q] * self.floor))
                part = 0.5 * self.d * (max(part, 0.0) - log1p(self.noise)) + 0.5 * self.d * self.added[q]
                own = min(own, paid + (Th * part if part > 0.0 else Tl * part))
            if self.added[q] > 0.0:
                helped = min(helped, own)
            else:
                alone = min(alone, own)
        beside = 1.0
        for a in range(K):
            beside -= wl[a]
        for u in range(U):
            one, part, most = 0.0, 0.0, 0.0
            for a in range(K):
                one += wh[a] * self.wide[a, u, low[a]]
                part += wl[a] * self.wide[a, u, low[a]]
                most = max(most, self.wide[a, u, low[a]])
            width[u] = min(one, part + max(beside, 0.0) * most)
            for a in range(K):
                x0[a][u] = self.places[a, u] - self.low[a, u, low[a]]
                x1[a][u] = self.places[a, u] + self.high[a, u, low[a]]
        one = 0.0
        for q in range(self.added.shape[0]):
            one = max(one, self.added[q])
        n_tried = min(n_tried, T)
        for t in range(n_tried):
            # after the one that is tried first any others, in turn where these are not all
            u = (at[0] + (0 if t == 0 else t + (turn * (n_tried - 1) if n_tried < T else 0))) % T
            if t > 0 and u == at[0]:
                continue
            if alone < INFINITY:
                part = alone + self.by_tree(u, low, ql, qh, wh, Tl, width, 0.0, x0, x1)
                if part < best:
                    best, first = part, u
            if helped < alone:
                part = helped + self.by_tree(u, low, ql, qh, wh, Tl, width, one, x0, x1)
                if part < best:
                    best, first = part, u
            if best - price <= enough:
                break
        at[0] = first
        return best - price

    cdef inline real of_part(self, index q, int a, index low, index high) noexcept nogil:
        """The price of a part of label a and what it loses alone, at most."""
        cdef index level = 0, n = high - low
        if n == 0:
            return self.alone[q, a, low]
        while n >> (level + 1):
            level += 1
        return max(self.between_parts[q, a, level, low], self.between_parts[q, a, level, high - (1 << level)])

    cdef real beside(
        self, index q, int a, const index *low, const real *ql, const real *qh
    ) noexcept nogil:
        """What parts lose by noise where small ones are taken together with that of label a."""
        cdef int b
        cdef real noise = self.noise, mass = qh[a], lost = self.lost[q, a, low[a]], thin = self.thin[a, low[a]], own
        if not ql[a] > 0.0 or not lost < INFINITY:
            return INFINITY
        for b in range(self.K):
            if b == a or not qh[b] > 0.0:
                continue
            if self.lost[q, b, low[b]] > lost:
                mass += qh[b]
                noise += self.noise * self.ratio[b, a] * qh[b] / ql[a]
        # noise is at least what is added of the floor, in the direction in which that is most
        if self.added[q] * self.floor_of[a] * mass > self.noise * ql[a]:
            return INFINITY
        own = mass * (lost + 0.5 * self.d * log((thin + noise) / (thin + self.noise)))
        for b in range(self.K):
            if b != a and qh[b] > 0.0 and not self.lost[q, b, low[b]] > lost:
                own += qh[b] * self.lost[q, b, low[b]]
        return own

    cdef real by_tree(
        self, index t, const index *low, const real *ql, const real *qh, const real *wh, real Tl, const real *width,
        real added, real (*x0)[MOST_DIRECTIONS], real (*x1)[MOST_DIRECTIONS],
    ) noexcept nogil:
        """What labels' shares save by their entropy, less what lies between them costs, merged as tree t has it.

        IN/OUT x0, x1: between which the means of labels' parts are along the directions, then of those that are merged.
        """
        cdef int K = self.K, a, j, n = K, first, second
        cdef index U = self.floors.shape[0], u
        cdef index masks[MOST_NODES]
        cdef real al[MOST_NODES]
        cdef real ah[MOST_NODES]
        cdef real den[MOST_DIRECTIONS]
        cdef real ol, oh, bl, bh, gap, far, beta, found = 0.0, logs = 0.0
        for a in range(K):
            masks[a], al[a], ah[a] = 1 << a, ql[a], qh[a]
        for u in range(U):
            den[u] = added * self.floors[u]
        for j in range(K - 1):
            first = second = 0
            for a in range(n):
                if masks[a] == self.trees[t, j, 0]:
                    first = a
                if masks[a] == self.trees[t, j, 1]:
                    second = a
            masks[n] = masks[first] | masks[second]
            al[n], ah[n] = al[first] + al[second], ah[first] + ah[second]
            ol = al[first] / (al[first] + ah[second]) if al[first] > 0.0 else 0.0
            oh = ah[first] / (ah[first] + al[second]) if ah[first] > 0.0 else 0.0
            if not ah[second] > 0.0:
                ol = oh = 1.0
            found += mixing(ah[first], ah[second])
            bl = bh = 0.0
            if al[first] > 0.0 and al[second] > 0.0:
                bl = al[first] * al[second] / ((al[first] + al[second]) * Tl)
            if ah[first] > 0.0 and ah[second] > 0.0:
                bh = 0.25
                if Tl > 0.0:
                    bh = min(bh, ah[first] * ah[second] / ((ah[first] + ah[second]) * Tl))
            beta = 0.0
            for u in range(U):
                gap = max(x0[first][u] - x1[second][u], x0[second][u] - x1[first][u])
                if gap > 0.0:
                    beta = max(beta, gap * gap / (width[u] + den[u]))
            if first < K and second < K and bl > 0.0:
                beta = max(beta, self.between(first, second, low, wh, den))
            logs += log1p(bl * beta)
            for u in range(U):
                far = max(x1[first][u] - x0[second][u], x1[second][u] - x0[first][u])
                den[u] += bh * far * far
                gap, far = x0[first][u] - x0[second][u], x1[first][u] - x1[second][u]
                x0[n][u] = x0[second][u] + min(ol * gap, oh * gap)
                x1[n][u] = x1[second][u] + max(ol * far, oh * far)
            n += 1
        return found - 0.5 * Tl * logs

    cdef real between(
        self, int a, int b, const index *low, const real *wh, const real *den
    ) noexcept nogil:
        """The squared distance of two labels' parts over all variance along it, at least; the best direction."""
        cdef index p = self.pair[a, b], r, u, i, k, n = self.spread.shape[4]
        cdef real distance, others, step_a, step_b, gap, least, wa, wb, best = 0.0
        cdef int c, side_a = 0 if a < b else 1, side_b = 1 - side_a
        for r in range(self.pair_ways.shape[1]):
            u = self.pair_ways[p, r]
            distance = self.places[a, u] - self.places[b, u]
            distance = -distance if distance < 0.0 else distance
            # that of these two by what they have where they are displaced, of others as it was
            others = den[u]
            for c in range(self.K):
                if c != a and c != b:
                    others += wh[c] * self.wide[c, u, low[c]]
            step_a, step_b = self.moved[p, side_a, r, low[a]] / (n - 1), self.moved[p, side_b, r, low[b]] / (n - 1)
            least = INFINITY
            for i in range(n):
                wa = self.spread[p, side_a, r, low[a], i]
                for k in range(n):
                    gap = distance - step_a * i - step_b * k
                    if not gap > 0.0:
                        least = 0.0
                        break
                    wb = self.spread[p, side_b, r, low[b], k]
                    if wa > wb:
                        wb = others + wh[a] * wa + min(wh[b], 1.0 - wh[a]) * wb
                    else:
                        wb = others + wh[b] * wb + min(wh[a], 1.0 - wh[b]) * wa
                    if gap * gap < least * wb:
                        least = gap * gap / wb
                if not least > 0.0:
                    break
            best = max(best, least)
        return best
