"""What blocks of columns prove of all mixtures of normal components.

For responsibilities r the objective is at least f(r) = I(r) + sum_a E_a(r): I, the mutual information of samples and
components, is not negative, and E_a is what column a costs at the best parameters. A block b of columns, each counted
c_b times, has

    F_b  =  min over r of  I(r) + c_b sum of E_a(r) over its columns  >=  sum_i w_i lambda_i - K max over cells of U

by prices lambda and cells of one component, as in `prices` with costs c_b times as high. With weights alpha_b >= 0,
sum_b alpha_b <= 1 and u_a = sum over b with a of alpha_b c_b <= 1 for every column

    f(r)  >=  sum_b alpha_b F_b  +  sum_a (1 - u_a) W log(2 pi floor_a) / 2,

as E_a >= W g(0), g being the cost of a variance (`families`), which rises. A spherical component has one variance in
each block and one in all columns; as g is concave and the latter the mean of the former and of the columns' that are
left, weighted as above, what it costs is no less. One block of all columns, once, is (V5) for mixtures of any size, and
of components of known variances and of covariance matrices, too: their columns are not taken apart.

That weights add up to no more than 1 is seen in fractions; all else is rounded down in intervals.

Theory: (VB1) of docs/theory/proof_blocks.md.
"""

import math
from fractions import Fraction

import numpy as np

from .entries import numbers
from .errors import ProofError
from .families import LOG_2_PI
from .leaf import sum_from_below
from .prices import cells, savings
from .rounding import Interval, down, up
from .tuning import MOST_COPIES

FAMILIES = "diag", "spherical"
WHOLE = *FAMILIES, "known", "full"  # of all columns in one block


def bound(bounds, arrays, reference):
    """
    Bound all mixtures from below.

    Parameters
    ----------
    bounds : Bounds
        Of the problem.
    arrays : dict
        Of the proof.
    reference : ndarray, shape (d,)

    Returns
    -------
    lower : float
        The objective of none is below; -inf where there are no blocks.
    n_cells : int
        That show it.

    Raises
    ------
    ProofError
        If blocks are none.
    """
    members, sizes = arrays["blocks"], arrays["block_sizes"]
    B, d, N = len(members), bounds.columns.shape[1], len(bounds.columns)
    weights = numbers(arrays, "block_weights", "file", (B,), 0.0)
    if not B:
        return -math.inf, 0
    is_whole = B == 1 and members.shape[1] == d and (members == 1).all() and weights[0] == 1.0
    if bounds.problem.family not in (WHOLE if is_whole else FAMILIES) or bounds.problem.noise is not None:
        raise ProofError("blocks", f"are of {' and '.join(FAMILIES)} components without noise, or of all columns")
    if not is_whole or bounds.problem.family in FAMILIES:
        terms = _beside(bounds, members, weights)
    else:
        if bounds.problem.prior is not None or bounds.rules.n_shared:
            raise ProofError("blocks", "are of components that share nothing, without a prior")
        terms = Interval(0.0)
    prices = numbers(arrays, "block_prices", "file", (B, N))
    if sizes.shape != (B, 2) or (sizes < 0).any():
        raise ProofError("block_sizes", "must be two numbers of at least 0 for each of the blocks")
    names = "block_cells", "block_points", "block_leaves", "block_slopes", "block_scales"
    ends = np.cumsum(sizes, axis=0)[:-1]
    if [len(arrays[name]) for name in names] != [*[sizes[:, 0].sum()] * 2, *[sizes[:, 1].sum()] * 3]:
        raise ProofError("block_sizes", "are not those of the blocks' cells and entries")
    if arrays["block_slopes"].shape[1] != bounds.n_slopes:
        raise ProofError("block_slopes", f"must be {bounds.n_slopes} of each entry")
    parts = [np.split(arrays[name], ends[:, int(i > 1)]) for i, name in enumerate(names)]
    found, n_cells = terms + bounds.of_leaves, 0
    for own, weight, lam, *entries in zip(members, weights, prices, *parts, strict=True):
        value, n = _of_block(bounds, own, lam, entries, reference)
        found, n_cells = found + Interval(weight) * value, n_cells + n
    return float(found.low), n_cells


def _beside(bounds, members, weights):
    """Bound what columns cost that are not in all blocks, as an interval."""
    W, left = math.fsum(bounds.weights), _left(members, weights, bounds.columns.shape[1])
    return (Interval(down(W), up(W)) * (LOG_2_PI + Interval(bounds.problem.floor).log()) * 0.5 * left).sum(axis=0)


def _left(members, weights, d):
    """Return how often columns (d,) count beside the blocks, as intervals; none is in too many blocks."""
    copies = members.max(axis=1, initial=0)
    is_power = (copies > 0) & (copies <= MOST_COPIES) & (copies & (copies - 1) == 0)
    is_same = ((members == 0) | (members == copies[:, np.newaxis])).all(axis=1)
    if members.shape[1] != d or not (is_power & is_same).all():
        raise ProofError("blocks", f"must say of {d} columns how often they count: 0 or the same power of 2")
    exact = [Fraction(weight) for weight in weights.tolist()]
    used = [sum(weight * count for weight, count in zip(exact, own, strict=True)) for own in members.T.tolist()]
    if max(sum(exact), *used) > 1:
        raise ProofError("block_weights", "add up to more than 1, of all blocks or of those with a column")
    left = np.array([float(1 - part) for part in used])
    return Interval(np.maximum(down(left), 0.0), up(left))


def _of_block(bounds, members, prices, entries, reference):
    """Bound the optimum of a block, rounded down, and count its cells."""
    own, copies = np.flatnonzero(members), int(members.max())
    splits, points, labels, slopes, scales = entries
    if bounds.problem.family in FAMILIES:
        part = bounds.part(own)
        of_columns, of_squares = np.split(slopes, 2, axis=1)
        slopes = np.concatenate([of_columns[:, own], of_squares[:, own]], axis=1)
    else:
        part = bounds
    low, high, slopes, scales = cells(part, splits, points, labels, slopes, scales)
    most = savings(part, prices, low, high, slopes, scales, reference[own], copies).max(initial=0.0)
    total = sum_from_below(part.weights, prices[:, np.newaxis])[0]
    return float(down(total - up(bounds.problem.n_components * most))), len(low)
