"""Samples with many ties."""

import numpy as np


def tied(rng, kind, shape, least_values):
    """
    Draw samples with many ties.

    Parameters
    ----------
    rng : numpy.random.Generator
    kind : int
        0: small integers; 1: counts; 2: rounded to one digit; else a few values, each many times.
    shape : (int, int)
    least_values : int
        Of the last kind at least so many different values, and at most 7.
    """
    if kind == 0:
        return rng.integers(1, 6, shape).astype(float)
    if kind == 1:
        return rng.poisson(3.0, shape).astype(float)
    if kind == 2:
        return np.round(2.0 * rng.standard_normal(shape), 1)
    values = rng.normal(0.0, 3.0, (int(rng.integers(least_values, 8)), shape[1]))
    return values[rng.integers(len(values), size=shape[0])]
