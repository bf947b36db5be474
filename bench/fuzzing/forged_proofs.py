"""Forged proofs of biconvex problems: files that claim more than a point allows, with numbers that might hide it.

A problem with a point that is exactly feasible has a proof; the claim is raised above the point's objective, or to "no
point is feasible", and the file is changed, or the problem's units together with it. Whatever is accepted then is
false. Besides certificates with numbers of any magnitude (`tests/support/certificates`), whose bounds are compared in
rationals. What is raised must be a `ProofError`.
"""

import io
import json
import sys
import traceback
import warnings
import zipfile
from fractions import Fraction

import numpy as np

from gopfast.checker import ProofError, check, file
from gopfast.checker.biconvex import BiconvexProblem

from . import generator

sys.path.insert(0, str(generator.ROOT))
from tests.support import certificates

SPECIAL = (0.0, -0.0, 5e-324, 2.0**-1022, 1e-300, 1e-154, 1.0, 1e100, 1e154, 1e300, np.finfo(float).max)
CODES = (-(2**31), 2**31 - 1, 10**6, *range(-6, 4))
JUNK = (None, [], {}, "1", -1, True, 1e100, 1e308, 10**400, np.inf, np.nan, [[1.0]])
N_FORGERIES = 40
N_CERTIFICATES = 40


def entries(rng, arrays):
    """One to three entries, special numbers or a little more."""
    for _ in range(rng.integers(1, 4)):
        array = arrays[_some(rng, arrays)]
        place = tuple(rng.integers(size) for size in array.shape)
        x = array[place]
        if array.dtype.kind == "i":
            array[place] = rng.choice([*CODES, x])
        else:
            array[place] = rng.choice([*SPECIAL, *(-special for special in SPECIAL), -x, 2 * x, x * (1 + 1e-6), x + 1])


def an_array(rng, arrays):
    """All of an array: other magnitudes, or in another order."""
    name = _some(rng, arrays)
    if arrays[name].dtype.kind == "i" or rng.random() < 0.2:
        arrays[name] = rng.permutation(arrays[name])
    else:
        arrays[name] = arrays[name] * rng.choice([-1.0, 1.0]) * 10.0 ** rng.integers(-308, 309)


def multipliers(rng, arrays):
    """Each certificate times a power of ten, which is one as well but for underflow."""
    for first, last in zip(arrays["starts"], arrays["starts"][1:], strict=False):
        arrays["multipliers"][first:last] *= 10.0 ** rng.integers(-320, 309)


def leaves(rng, arrays):
    """Certificates in another order, or one for all."""
    starts, n = arrays["starts"], len(arrays["starts"]) - 1
    order = rng.permutation(n) if rng.random() < 0.5 else np.full(n, rng.integers(max(1, n)))
    own = [np.arange(starts[c], starts[c + 1]) for c in order]
    for name in ("first", "second", "multipliers"):
        arrays[name] = arrays[name][np.concatenate([np.zeros(0, int), *own])]
    arrays["starts"] = np.cumsum([0, *map(len, own)]).astype(starts.dtype)


def a_node(rng, arrays):
    """One node less, or of another kind; or its certificate, too."""
    k = int(rng.integers(len(arrays["splits"])))
    if rng.random() < 0.3:
        arrays["splits"][k] = rng.choice(CODES)
        return
    if arrays["splits"][k] == -1:
        c = int((np.isin(arrays["splits"], (-1, -2)).cumsum() - 1)[k])
        first, last = arrays["starts"][c : c + 2]
        for name in ("first", "second", "multipliers"):
            arrays[name] = np.delete(arrays[name], slice(first, last))
        arrays["starts"] = np.delete(arrays["starts"], c)
        arrays["starts"][c:] -= last - first
    arrays["splits"], arrays["points"] = np.delete(arrays["splits"], k), np.delete(arrays["points"], k)


def ends(rng, arrays):
    """Splits and cuts elsewhere."""
    far = rng.choice([-1.0, 1.0]) * 10.0 ** rng.integers(-9, 300)
    arrays["points"] = np.where(arrays["splits"] >= 0, arrays["points"] + far, arrays["points"])
    arrays["ends"] = arrays["ends"] + np.sign(arrays["slopes"]) * abs(far)


def nothing(rng, arrays):
    """The claim alone."""


CHANGES = (entries, an_array, multipliers, leaves, a_node, ends, nothing)


def header(rng, claim):
    """Entries of the claim that are none."""
    name = str(rng.choice(list(claim)))
    if name == "solution" and claim[name] and rng.random() < 0.7:
        claim[name] = [float(rng.choice([-1e100, 1e100, 1e80, 5e-324])) for _ in claim[name]]
    else:
        claim[name] = JUNK[rng.integers(len(JUNK))]


def archive(rng, data):
    """Bytes that are others, or an entry that is no array, cut off, or there twice."""
    if rng.random() < 0.5:
        changed = bytearray(data)
        for place in rng.integers(len(data), size=rng.integers(1, 8)):
            changed[place] = rng.integers(256)
        return bytes(changed[: len(data) if rng.random() < 0.6 else int(rng.integers(len(data)))])
    source, target = zipfile.ZipFile(io.BytesIO(data)), io.BytesIO()
    names = source.namelist()
    chosen, what = str(rng.choice(names)), rng.integers(4)
    with zipfile.ZipFile(target, "w") as written:
        for name in names:
            text = source.read(name)
            if name == chosen:
                if what == 3:
                    written.writestr(name, text)
                short, long = text[: int(rng.integers(len(text)))], text.replace(b"(", b"(99999999999,", 1)
                text = (b"text", short, long, text)[what]
            written.writestr(name, text)
    return target.getvalue()


def other_units(rng, record, arrays, point):
    """
    Variables, rows and the objective in other units, powers of two, and the proof with them; returns the point.

    The same numbers but where they over- or underflow. Proofs in sums, with tangents or lines stay as they are.
    """
    most, names = int(rng.choice([30, 150, 320])), list(record["variables"])
    n, m = len(names), len(record["constraints"])
    of_z, of_rows = (rng.integers(-most, most + 1, size) * (rng.random() < 0.7) for size in (n, m))
    of_f, unit = int(rng.integers(-most, most + 1)), dict(zip(names, of_z.tolist(), strict=True))

    def scale(terms, power):
        terms["const"] = float(np.ldexp(terms.get("const", 0.0), power))
        terms["lin"] = {name: float(np.ldexp(a, power - unit[name])) for name, a in terms["lin"].items()}
        terms["quad"] = [[i, j, float(np.ldexp(a, power - unit[i] - unit[j]))] for i, j, a in terms["quad"]]

    scale(record["objective"], of_f)
    for row, power in zip(record["constraints"], of_rows.tolist(), strict=True):
        scale(row, power)
        row["rhs"] = float(np.ldexp(row["rhs"], power))
    for name, bounds in record["variables"].items():
        record["variables"][name] = [None if x is None else float(np.ldexp(x, unit[name])) for x in bounds]
    sizes = np.concatenate([[0], of_z, of_z, of_rows, [of_f], np.zeros(len(arrays["vectors"]), int)])
    if not any(arrays[name].size for name in ("directions", "tangents", "lines")) and _is_plain(record):
        arrays["multipliers"] = np.ldexp(arrays["multipliers"], -sizes[arrays["first"]] - sizes[arrays["second"]])
        arrays["vectors"] = np.ldexp(arrays["vectors"], -sizes[: n + 1])
        of_points = np.where(arrays["splits"] >= 0, of_z[np.maximum(arrays["splits"], 0)], 0)
        arrays["points"] = np.ldexp(arrays["points"], of_points)
        arrays["ends"] = np.ldexp(arrays["ends"], of_z[arrays["variables"]])
        arrays["slopes"] = np.ldexp(arrays["slopes"], -of_z[arrays["variables"]])
    return {name: x * Fraction(2) ** unit[name] for name, x in point.items()}


KINDS = (*(change.__name__ for change in CHANGES), other_units.__name__, header.__name__, archive.__name__)
VERDICTS = ("refused", "true", "false", "raised")


def attack(problem, data, point, counts, rng):
    """
    Forge a proof, and certificates; return what is wrong, as texts.

    Parameters
    ----------
    problem : BiconvexProblem
    data : bytes
        Its proof.
    point : list of Fraction
        Exactly feasible.
    counts : Counter
        Of (kind, verdict); added to.
    """
    wrong = []
    for _ in range(N_FORGERIES):
        kind = str(rng.choice(KINDS))
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # names that are twice in an archive
            verdict, what = _forged(kind, json.loads(problem.to_json()), data, point, rng)
        counts[kind, verdict] += 1
        if verdict in ("false", "raised"):
            wrong.append(f"{kind}: {what}")
    for seed in rng.integers(2**31, size=N_CERTIFICATES).tolist():
        found = certificates.least_and_value(seed)
        is_false = found is not None and Fraction(found[0]) > found[1]
        counts["certificates", "false" if is_false else "refused" if found is None or found[0] < 0 else "true"] += 1
        if is_false:
            wrong.append(f"certificate {seed} proves {found[0]} where there is less")
    return wrong


def _forged(kind, record, data, point, rng):
    """What the checker says of a forgery, and the reason."""
    head, arrays = file.read(data)
    arrays = {name: array.copy() for name, array in arrays.items()}
    claim, z = dict(head["claim"]), dict(zip(record["variables"], point, strict=True))
    try:
        if kind == other_units.__name__:
            z = other_units(rng, record, arrays, z)
            claim |= {"solution": None, "objective": None}
            if not _is_feasible(record, z):  # what underflows
                return "refused", "is another problem"
        elif kind == header.__name__:
            header(rng, claim)
        elif kind != archive.__name__:
            globals()[kind](rng, arrays)
        value, sign = _value(record["objective"], z), -1 if record["sense"] == "max" else 1
        if kind not in (header.__name__, archive.__name__):
            claim["bound"] = _more_than(sign * value, rng)
        text = {"format": file.FORMAT, "version": file.VERSION, "kind": "biconvex"}
        text |= {"digest": BiconvexProblem(record).digest(), "claim": claim}
        target = io.BytesIO()
        np.savez(target, header=np.array(json.dumps(text)), **arrays)
        data = target.getvalue() if kind != archive.__name__ else archive(rng, target.getvalue())
        found = check(data, record)
    except ProofError as error:
        return "refused", str(error)
    except Exception:
        return "raised", traceback.format_exc()
    if sign * found.bound == np.inf or Fraction(sign * found.bound) > sign * value:
        return "false", f"{found.bound!r} is accepted where {float(value)!r} is feasible"
    if found.solution and sign * found.objective < np.inf:
        attained = _value(record["objective"], {name: Fraction(x) for name, x in found.solution.items()})
        if Fraction(sign * found.objective) < sign * attained:
            return "false", f"{found.objective!r} is not attained by {found.solution}"
    return "true", ""


def _some(rng, arrays):
    """The name of an array that is not empty."""
    return str(rng.choice([name for name, array in arrays.items() if array.size]))


def _more_than(value, rng):
    """A claim above a value, minimised: a number, or None."""
    if rng.random() < 0.15:
        return None
    more = value + Fraction(10.0 ** rng.integers(-7, 3)) * (1 + abs(value))
    return float(min(max(more, Fraction(-(10**100))), Fraction(10**100)))


def _is_plain(record):
    """Whether the checker adds no variables of its own."""
    return BiconvexProblem(record).n == len(record["variables"])


def _value(terms, z):
    total = Fraction(terms.get("const", 0.0)) + sum(Fraction(a) * z[name] for name, a in terms["lin"].items())
    return total + sum(Fraction(a) * z[i] * z[j] for i, j, a in terms["quad"])


def _is_feasible(record, z):
    for name, (low, high) in record["variables"].items():
        if not ((low is None or Fraction(low) <= z[name]) and (high is None or z[name] <= Fraction(high))):
            return False
    for row in record["constraints"]:
        slack = Fraction(row["rhs"]) - _value(row, z)
        if slack * (1 if row["sense"] == "<=" else -1) < 0 or (row["sense"] == "==" and slack):
            return False
    return True
