"""Random problems whose optimum is mostly where powers and roots begin: their arguments are 0 at planted points.

Data have two bits behind the point, one decimal or are integers: of some a double is exactly at the end, of others
none.
"""

import numpy as np

from fuzzing.functions import Factor, Instance

TOLERANCE = 1.01e-8  # of rows, among them those that say that arguments are not negative
KINDS = ("ends",)
EXPONENTS = (0.37, 0.5, 1 / 3, 0.2, 2 / 3, 0.9, 1.5)


def draw(rng):
    """Draw an `Instance`: rows a (b'z + c)^p + d'z <= e; the objective has the first row's power, or none."""
    n, style = int(rng.integers(1, 4)), str(rng.choice(["bits", "decimal", "integer"]))

    def numbers(low, high):
        drawn = rng.uniform(low, high, n)
        return {"bits": np.round(4 * drawn) / 4, "decimal": np.round(drawn, 1), "integer": np.round(drawn)}[style]

    low = numbers(-3, 0)
    high = low + 1 + np.abs(numbers(1, 4))
    rows = []
    for _ in range(int(rng.integers(1, 3))):
        slopes = numbers(-3, 3)
        slopes[0] = slopes[0] or 1.0
        planted = np.array([rng.choice([a, b, np.round(2 * (a + b)) / 4]) for a, b in zip(low, high, strict=True)])
        constant = float(np.round(-slopes @ planted, 6))
        if constant + np.maximum(slopes * low, slopes * high).sum() <= 0:
            constant += 1e-5  # rounded to where the power is hardly defined
        power = Factor("power", constant, tuple(slopes.tolist()), float(rng.choice(EXPONENTS)))
        terms = [(float(rng.choice([0.5, 1, 1.75, 30])), (power,))]
        terms += _linear(numbers(-1, 1) if rng.random() < 0.3 else np.zeros(n))
        rows.append((terms, float(rng.choice([0, 0, 0.125, 1]))))
    objective = _linear(numbers(-3, 3)) or _linear(np.eye(n)[0])
    sign = float(rng.choice([0, 1, -1]))
    if sign:
        objective.append((sign, rows[0][0][0][1]))
    instance = Instance("ends", objective, rows, [], low, high, str(rng.choice(["min", "max"])), None)
    instance.rounding = TOLERANCE  # where no double is at the end
    return instance


def _linear(slopes):
    units = np.eye(len(slopes)).tolist()
    return [(float(a), (Factor("affine", 0.0, tuple(unit), 1.0),)) for a, unit in zip(slopes, units, strict=True) if a]
