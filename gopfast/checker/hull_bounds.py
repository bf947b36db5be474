"""The most that one component can save whose mean is within some distances, whatever its direction is.

Samples save sum w max(0, y) + W max(0, log(M / W) - l) at most, y = l + price - cost, M = sum w min(1, e^y), for any l.
Of distances in a range y <= T - slope (1 - c), c the cosine of the component's direction and the sample's, which
`in_all_directions` takes; in a thin shell around a point `in_a_shell` is right to second order in its radius.

Rounding: samples, tops and slopes count as exact, as their prices are raised by what they are rounded by (`hull`).
Sums of n products are off by (n + 8) u of their magnitudes at most, exponentials by `ULPS`; a norm of p sums by p times
that.

Theory: (VH2) and (VH3) of docs/theory/proof_hull.md.
"""

import math

import numpy as np

from .margins import EIGENVALUE
from .rounding import TINY, ULPS, UNIT
from .tuning import BENDS, HOPELESS, HULL_TURNS as TURNS, LARGEST_SHIFT, SLOW_TURNS, SQUARINGS


def largest_eigenvalue(matrix, size):
    """
    Return at least the largest eigenvalue of a positive semidefinite matrix (p, p), of the trace `size` at most.

    That of its power 2^k is at most the power's Frobenius norm. A product is off by p^1.5 u of this norm, of which the
    root leaves 2 p^1.5 u in all: far below `EIGENVALUE`.
    """
    if not size > 0:
        return 0.0
    power, log = matrix / size, 0.0
    for _ in range(SQUARINGS):
        power = power @ power
        length = np.linalg.norm(power)
        if not length > TINY:
            return size
        power, log = power / length, 2.0 * log + math.log(length)
    return size * min(1.0, math.exp(log / 2.0**SQUARINGS) * (1 + EIGENVALUE))


def gains(tops, slopes, units, weights):
    """
    Bound sum w max(0, y), y <= top - slope (1 - c), for all directions at once.

    Parameters
    ----------
    tops, slopes, weights : ndarray, shape (n,)
    units : ndarray, shape (n, p)
        The samples' directions, none longer than 1; p may be 0.
    """
    own = np.flatnonzero(tops > 0)
    T, w, p = tops[own], weights[own], units.shape[1]
    plain = (w @ T) * (1 + 4 * (len(own) + 8) * UNIT)
    if not p or not len(own):
        return plain
    slope, u, share = slopes[own], units[own], 1.0 / p
    A = T - slope
    e = np.sqrt(A * A + slope * slope * share)
    is_line, is_smooth = A >= slope, e <= T
    e, third = np.maximum(e, TINY), T / (1 + share) ** 2
    constant = np.where(is_line, A, np.where(is_smooth, np.square(A + e) / (4 * e), third * share * share))
    linear = np.where(is_line, slope, np.where(is_smooth, (A + e) * slope / (2 * e), 2 * third * share))
    square = np.where(is_line, 0.0, np.where(is_smooth, slope * slope / (4 * e), third))
    bent = w * square
    size = w @ (T + slope + np.abs(constant) + np.abs(linear) + square)
    value = w @ constant + np.linalg.norm((w * linear) @ u)
    value += largest_eigenvalue((u * bent[:, np.newaxis]).T @ u, bent.sum() * (1 + (len(own) + 8) * UNIT))
    return min(plain, value + 8 * (len(own) + 64) * p * UNIT * size)


def mass(y, weights):
    """Sum w min(1, e^y), rounded up."""
    error = (4 * ULPS + 4 * len(y) + 64) * UNIT
    return (weights @ np.exp(np.minimum(y, 0.0))) * (1 + error) + weights.sum() * TINY


def total(saved, masses, total_weight, scale):
    """Return what gains and masses at a scale (arrays or numbers) say, rounded up."""
    log = np.log(np.maximum(masses, TINY) / total_weight)
    rest = np.maximum(0.0, log - scale + 64 * UNIT * (1 + np.abs(scale) + np.abs(log)))
    return (saved + total_weight * rest) * (1 + 16 * UNIT)


def is_slow(before, value, enough):
    """Return whether a turn has gained too little for others to do, as these gain less."""
    return math.isfinite(enough) and math.isfinite(before) and not SLOW_TURNS * (before - value) >= value - enough


def in_all_directions(tops, slopes, units, weights, total_weight, scale, enough, others=0.0):
    """
    Bound what a component saves, by tops less the scale; other parameters as of `gains`.

    Parameters
    ----------
    scale : float
        Logarithm of the scale to begin with; any is valid.
    enough : float
        A bound of at most this is not improved.
    others : float
        The mass of samples that are not given, at most, none of which has a y above 0.
    """
    found = math.inf
    for turn in range(TURNS):
        masses = mass(tops + scale, weights) + others
        value = float(total(gains(tops + scale, slopes, units, weights), masses, total_weight, scale))
        if turn and not value < found:
            break
        before, found = found, min(found, value)
        following = min(0.0, math.log(max(masses, TINY) / total_weight))
        if found <= enough or found > HOPELESS * enough or is_slow(before, value, enough):
            break
        if abs(following - scale) < 1e-3:
            break
        scale = following
    return found


def in_a_shell(z, lengths, weights, prices, total_weight, inner, outer, scale):
    """
    Bound what a component saves of cost |z - m|^2 / 2, inner <= |m| <= outer.

    Samples with y >= 0 all over the shell are in. Of the others phi(y) = max(0, y) + min(1, e^y) is convex, of the
    slope min(1, e^y) and a second derivative of no more than that.

    Parameters
    ----------
    z : ndarray, shape (n, p)
    lengths, weights, prices : ndarray, shape (n,)
        Lengths rounded up.
    total_weight, inner, outer : float
    scale : float
        As of `in_all_directions`.

    Returns
    -------
    bound : float
        Infinite where it says nothing.
    following : float
        The scale for the next turn.
    """
    n, p = z.shape
    error = (4 * ULPS + 4 * n + 64) * UNIT
    further, s = 0.5 * (outer * outer - inner * inner), outer * lengths
    A = prices + (scale - 0.5 * inner * inner) - 0.5 * lengths * lengths
    least = A - s - further
    is_in, out = least >= 0, np.flatnonzero(least < 0)
    w, slope = weights[out], np.exp(np.minimum(A[out], 0.0))
    surely, wanted = weights[is_in].sum(), total_weight * math.exp(scale)
    low = (w @ np.exp(np.minimum(least[out], 0.0))) * (1 - error)
    curve = w * np.exp(np.minimum((A + s)[out], 0.0)) * (1 + 2 * ULPS * UNIT)
    high = curve.sum() * (1 + error) + total_weight * TINY
    following = math.log(max(surely + low, TINY) / total_weight * (1 - 1e-9))
    slack = error * (wanted + surely + high)
    more, less = max(0.0, surely + high - wanted + slack), max(0.0, wanted - surely - low + slack)
    if not more < LARGEST_SHIFT * surely:
        return math.inf, following
    derivative = np.array(weights)
    derivative[out] = w * slope
    value = weights[is_in] @ A[is_in] + w @ (np.maximum(A[out], 0.0) + slope)
    value += surely - wanted + less + 0.5 * more * more / (surely - more)
    length = np.linalg.norm(derivative @ z)
    size = (curve @ np.square(lengths[out])) * (1 + error)
    square = largest_eigenvalue((z[out] * curve[:, np.newaxis]).T @ z[out], size) + error * p * size
    bent = (surely + low) * (1 - error)
    bend = square - bent
    ends = [inner, outer, *([-length / bend] if bend < 0 and inner < -length / bend < outer else [])]
    value += max(length * t + 0.5 * bend * t * t for t in ends) + 0.5 * bent * inner * inner
    lost = derivative @ (np.abs(A) + s + 1.0) + wanted + surely + more + (square + bent) * outer * outer
    return value + error * p * lost, following


def most_of_precisions(square, low, high, n_columns):
    """Return the most of (d / 2) log s - s square / 2 for squared distances (n,) and low <= s <= high."""
    if low == high == 1.0:
        return -0.5 * square
    s = np.clip(n_columns / np.maximum(square, TINY), low, high)
    return 0.5 * n_columns * np.log(s) - 0.5 * s * square


def bend_of_precisions(radius, n_columns):
    """
    Return at least what half the squared distance exceeds the convex term by within a ball, see (Y7).

    With x the relative change of the precision that is at most (R^2 - d x^2 / 2) x / (2 (1 + x)) + (d / 2) (x^2 / 2 - x
    + log(1 + x)) for some x from 0 to R sqrt(2 / d): in each of many ranges the first factor is at most that of the
    lower end, the rest, which increases, that of the upper one.
    """
    x = np.linspace(0.0, 1.0, BENDS + 1) * math.sqrt(2.0 / n_columns) * radius
    low, high = x[:-1], x[1:] * (1 + 1e-12)
    first = 0.5 * (radius * radius - 0.5 * n_columns * np.square(low)) * high / (1.0 + high)
    rest = np.minimum(high**3 / 3.0, 0.5 * high * high - high + np.log1p(high) + 1e-14 * (high + high**2))
    return float((first + 0.5 * n_columns * rest).max()) * (1 + 1e-9)


def radius_around(away, low, high, precision, n_columns, free):
    """
    Return the radius of the ball around a component of this precision that holds others.

    Their means are so far `away`, and their precisions between low and high, in which its square is convex.
    """
    rest = 0.5 * n_columns * free
    squares = [np.square(s * away) / precision + rest * np.square(s / precision - 1.0) for s in (low, high)]
    return np.sqrt(np.maximum(*squares)) * (1 + 1e-9) + 1e-13
