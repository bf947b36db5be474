"""Changes of proofs of mixtures of regressions whose components share a coefficient."""

import numpy as np

from gopfast.checker import file


def without_format(found):
    """Return the header of a file, but for what all files have, and its arrays."""
    header, arrays = found
    return {name: value for name, value in header.items() if name not in ("format", "version", "kind")}, arrays


def within(arrays, at):
    """Header and arrays of one of the inner proofs."""
    begin = int(arrays["sizes"][:at].sum())
    return without_format(file.read(arrays["proofs"].tobytes()[begin : begin + int(arrays["sizes"][at])]))


def inner(header, arrays, change, at=None):
    """Change one of the inner proofs: of the largest, if none is named."""
    sizes = arrays["sizes"].tolist()
    at = int(np.argmax(sizes)) if at is None else at
    begin = sum(sizes[:at])
    data = arrays["proofs"].tobytes()
    changed = change(*within(arrays, at))
    sizes[at : at + 1] = [len(changed)]
    data = data[:begin] + changed + data[begin + arrays["sizes"][at] :]
    arrays.update(sizes=np.array(sizes), proofs=np.frombuffer(data, np.uint8))


def inner_claim(by):
    def change(header, arrays):
        header["claim"]["lower_bound"] += by
        return file.pack("mixture", header, arrays)

    return lambda header, arrays: inner(header, arrays, change)


def inner_problem(**said):
    def change(header, arrays):
        header["problem"].update(said)
        return file.pack("mixture", header, arrays)

    return lambda header, arrays: inner(header, arrays, change)


def itself(header, arrays):
    """A proof of a shared coefficient in the place of one of a known one."""
    data = file.pack("shared_coefficients", header, arrays)
    inner(header, arrays, lambda *_: data)


def exchanged(header, arrays):
    """The proofs of two values, each in the other's place."""
    sizes = arrays["sizes"]
    first, second = np.argsort(sizes)[-2:]
    pieces = np.split(arrays["proofs"], np.cumsum(sizes)[:-1])
    pieces[first], pieces[second] = pieces[second], pieces[first]
    sizes = sizes.copy()
    sizes[[first, second]] = sizes[[second, first]]
    arrays.update(proofs=np.concatenate(pieces), sizes=sizes)


def dropped(place):
    """Without one of the values and its proof."""

    def change(header, arrays):
        at = place % len(arrays["values"])
        pieces = np.split(arrays["proofs"], np.cumsum(arrays["sizes"])[:-1])
        pieces.pop(at)
        arrays.update(
            values=np.delete(arrays["values"], at), sizes=np.delete(arrays["sizes"], at),
            proofs=np.concatenate(pieces), slopes=np.delete(arrays["slopes"], min(at, len(arrays["slopes"]) - 1)),
        )  # fmt: skip

    return change


def said(**entries):
    return lambda header, arrays: header.update(entries)


def of_problem(**entries):
    return lambda header, arrays: header["problem"].update(entries)


def array(name, by):
    return lambda header, arrays: arrays.update({name: np.asarray(by(arrays[name]), arrays[name].dtype)})


def claimed(name, by):
    return lambda header, arrays: header["claim"].update({name: header["claim"][name] + by})


def unshared(header, arrays):
    """A solution whose components do not share the coefficient."""
    found = header["claim"]["solution"]
    place = header["problem"]["shared_coefficient"]
    rows = found["coefficients"]
    if place < len(rows[0]):
        rows[0][place] += 1e-9
    else:
        found["intercepts"][0] += 1e-9


CHANGES = {
    "bound a little too large": claimed("lower_bound", 1e-5),
    "all of the gap": lambda header, arrays: header["claim"].update(lower_bound=header["claim"]["objective"]),
    "smaller objective": claimed("objective", -1e-6),
    "coefficients that differ": unshared,
    "other direction": lambda header, arrays: header.update(direction=[x + 0.1 for x in header["direction"]]),
    "no direction": said(direction=[]),
    "larger bound of a value": inner_claim(5.0),
    "other problem at a value": inner_problem(n_components=1),
    "other floor at a value": inner_problem(variance_floor=[1e-9]),
    "another kind within": itself,
    "proofs of other values": exchanged,
    "first value missing": dropped(0),
    "second value missing": dropped(1),
    "last value missing": dropped(-1),
    "a proof missing": lambda header, arrays: arrays.update(
        proofs=arrays["proofs"][: -arrays["sizes"][-1] or None],
        sizes=np.append(arrays["sizes"][:-1], 0) if arrays["sizes"][-1] else arrays["sizes"][:-1]),
    "no proofs": lambda header, arrays: arrays.update(proofs=arrays["proofs"][:0], sizes=arrays["sizes"] * 0),
    "wrong sizes": array("sizes", lambda x: x + 1),
    "sizes below 0": array("sizes", lambda x: np.append(x[:-2], [x[-2] + x[-1] + 5, -5])),
    "values elsewhere": array("values", lambda x: x + 1e-6),
    "values out of order": array("values", lambda x: x[::-1]),
    "values twice": array("values", lambda x: np.repeat(x, 2)[: len(x)]),
    "steeper slopes": array("slopes", lambda x: x * 2),
    "flatter slopes": array("slopes", lambda x: x / 2),
    "slopes below 0": array("slopes", lambda x: -x),
    "a slope less": array("slopes", lambda x: x[1:]),
    "samples twice in blocks": array("blocks", lambda x: np.repeat(x[:1], 2, axis=0)),
    "samples that are none": array("blocks", lambda x: x + 1000),
    "samples below 0": array("blocks", lambda x: x - 1000),
    "smaller blocks": array("blocks", lambda x: x[:, 1:]),
    "other place": lambda header, arrays: header["problem"].update(
        shared_coefficient=1 - header["problem"]["shared_coefficient"]),
    "no place": of_problem(shared_coefficient=-1),
    "place that is none": of_problem(shared_coefficient=2),
    "place that is no number": of_problem(shared_coefficient="x"),
    "other family": of_problem(family="diag"),
    "other number of components": of_problem(n_components=3),
    "other floor": of_problem(variance_floor=[1e-3]),
    "no problem": said(problem={}),
    "other data": said(digest=""),
}  # fmt: skip

# Of counts, whose loss between values has no slope to be chosen, and no floor.
OF_NORMAL = ("other floor at a value", "other floor", "steeper slopes", "flatter slopes")
COUNT_CHANGES = {
    **{name: change for name, change in CHANGES.items() if name not in OF_NORMAL},
    "other least count": of_problem(least_count=0.4),
    "other least count at a value": inner_problem(least_count=0.4),
    "no offset": of_problem(offset=None),
    "no offset at a value": inner_problem(offset=None),
    "family of normal errors": of_problem(family="regression"),
}  # fmt: skip
# What may hold nonetheless: blocks may prove what lies beyond the second value, and of Poisson counts the direction's
# constant does not count.
MAY_BE_TRUE = {"binomial": ("first value missing", "last value missing")}
MAY_BE_TRUE["poisson"] = (*MAY_BE_TRUE["binomial"], "other direction")


def _on_data(change):
    """Make a change that is called as those of `support.proofs`."""

    def changed(rng, header, arrays, X, weights):
        change(header, arrays)
        return X, weights

    return changed


ON_DATA = {name: _on_data(change) for name, change in CHANGES.items()}
