"""Certificates of biconvex problems with numbers of any magnitude, and what they prove, in rationals."""

from fractions import Fraction

import numpy as np

from gopfast.checker.biconvex import BiconvexProblem
from gopfast.checker.certificate import Certificates

N_POINTS = 15


def number(rng, most):
    """A number of a magnitude up to a power of ten, now and then one that is special."""
    if rng.random() < 0.1:
        return float(rng.choice([0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324, 2.0**-1022]))
    return float(rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(-most, most))


def drawn(rng):
    """A random problem, vectors and the rule of its certificates."""
    most, n = int(rng.choice([20, 100])), int(rng.integers(1, 4))
    names, variables = [f"x{i}" for i in range(n)], {}
    for name in names:
        low, high = sorted([number(rng, most), number(rng, most)])
        variables[name] = [None if rng.random() < 0.3 else low, None if rng.random() < 0.3 else high]

    def expression():
        pairs = {tuple(sorted(rng.integers(0, n, 2).tolist())) for _ in range(rng.integers(0, 3))}
        return {
            "const": number(rng, most), "lin": {name: number(rng, most) for name in names if rng.random() < 0.7},
            "quad": [[names[i], names[j], number(rng, most)] for i, j in sorted(pairs)],
        }  # fmt: skip

    rows = [{"sense": str(rng.choice(["<=", ">=", "=="])), "rhs": 0.0, **expression()} for _ in range(2)]
    own = BiconvexProblem({"variables": variables, "objective": expression(), "constraints": rows})
    vectors = np.array([[number(rng, 300) for _ in range(own.n + 1)]])
    return own, vectors, Certificates(own, vectors, number(rng, most))


def certificate(rng, rule):
    """Multipliers of all magnitudes: (first, second, multipliers)."""
    affine, terms = np.flatnonzero(rule.is_affine), []
    for _ in range(rng.integers(1, 5)):
        kind = rng.random()
        if kind < 0.6:
            first, second = rng.integers(2 * rule.n + 1, rule.cutoff + 1), 0
        elif kind < 0.75:
            first = second = rule.first_vector
        else:
            first, second = rng.choice(affine[1:]), rng.choice(affine)
        is_free = rule.is_equation[first] or rule.is_equation[second]
        multiplier = number(rng, 300)
        terms.append((first, second, multiplier if is_free else abs(multiplier)))
    return [np.array(part) for part in zip(*terms, strict=True)]


def least_and_value(seed):
    """
    What a random certificate proves, and the least that is there at some points of the box.

    Returns
    -------
    (float, Fraction) or None
        None where it proves nothing.
    """
    rng = np.random.default_rng([seed, 4])
    own, vectors, rule = drawn(rng)
    terms, box = certificate(rng, rule), (own.low, own.high)
    target = (int(rng.integers(own.n)), number(rng, 300) or 1.0, number(rng, 100)) if seed % 2 else None
    try:
        with np.errstate(all="ignore"):
            least, _ = rule.least(*terms, *box, target)
    except ValueError:
        return None
    if not least > -np.inf:
        return None
    found = []
    for _ in range(N_POINTS):
        z = [_within(rng, *ends) for ends in zip(*(side.tolist() for side in box), strict=True)]
        factors = _factors(own, vectors, rule, box, z)
        total = Fraction(target[1]) * (z[target[0]] - Fraction(target[2])) if target else Fraction(0)
        products = zip(*(part.tolist() for part in terms), strict=True)
        found.append(total - sum(Fraction(m) * factors[a] * factors[b] for a, b, m in products))
    return least, min(found)


def _within(rng, low, high):
    """A number of an interval, near its ends or of any magnitude, as a fraction."""
    ends = [Fraction(end) for end in (low, high) if np.isfinite(end)]
    if ends and rng.random() < 0.5:
        return ends[rng.integers(len(ends))]
    x = Fraction(int(rng.choice([-1, 1]))) * Fraction(10) ** int(rng.integers(-400, 401))
    x += ends[0] if ends and rng.random() < 0.5 else 0
    x = max(x, Fraction(low)) if np.isfinite(low) else x
    return min(x, Fraction(high)) if np.isfinite(high) else x


def _factors(own, vectors, rule, box, z):
    """Exact values of all factors at a point."""
    point, pairs = [Fraction(1), *z], list(zip(*(side.tolist() for side in own.monomials), strict=True))
    forms = [sum(Fraction(a) * point[i] * point[j] for (i, j), a in zip(pairs, row, strict=True) if a)
             for row in own.forms.tolist()]  # fmt: skip
    low, high = ([Fraction(x) if np.isfinite(x) else None for x in side.tolist()] for side in box)
    below = [None if end is None else x - end for x, end in zip(z, low, strict=True)]
    above = [None if end is None else end - x for x, end in zip(z, high, strict=True)]
    squared = [sum(Fraction(a) * x for a, x in zip(vector, point, strict=True)) for vector in vectors.tolist()]
    return [Fraction(1), *below, *above, *forms[:-1], Fraction(rule.bound) - forms[-1], *squared]
