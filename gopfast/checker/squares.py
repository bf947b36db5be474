"""Terms of variables without ends, bounded by the squares that they have beside them.

Of variables in all of space, with q > 0, |c_i| <= l_i and |r_ij| <= b_ij,

    sum_i q_i z_i^2 + sum_i c_i z_i + sum_(i < j) r_ij z_i z_j >= - sum_i l_i^2 / (4 p_i),
    p_i = q_i - sum_(j /= i) t_ij b_ij / 2 > 0,    t_ij t_ji >= 1.

Theory: (VL2) of docs/theory/convex_proofs.md.
"""

import numpy as np

from .rounding import TINY, UNIT, down


def least(squares, linear, between):
    """
    Bound such a sum from below, rounded down; minus infinity where the squares are too small.

    Parameters
    ----------
    squares : ndarray, shape (k,)
        At most q.
    linear : ndarray, shape (k,)
        At least l.
    between : ndarray, shape (k, k)
        At least b, symmetric; what is on its diagonal does not count.
    """
    if not (squares > 0).all():
        return -np.inf
    root = np.sqrt(squares)
    # two quotients that would be 1 / t of each other are each 16 u more
    shares = 0.5 * between * (root[:, np.newaxis] / root)
    np.fill_diagonal(shares, 0.0)
    left = down(squares - (shares.sum(axis=1) * (1 + 2 * (len(root) + 16) * UNIT) + len(root) * TINY))
    if not (left > 0).all():
        return -np.inf
    lost = 0.25 * (linear * (linear / left))  # four times what is left may be infinite, and hide what is lost
    return -float(lost.sum() * (1 + 2 * (len(root) + 16) * UNIT) + len(root) * TINY)
