"""Changes that make a proof of k-means one of something else: of header and arrays in place."""

import numpy as np


def claim(**entries):
    """Change the claim: by a factor, or to what a function makes of an entry."""

    def change(header, arrays):
        for name, by in entries.items():
            old = header["claim"][name]
            header["claim"][name] = by(old) if callable(by) else old * by

    return change


def array(name, by):
    """Change an array."""
    return lambda header, arrays: arrays.update({name: np.asarray(by(arrays[name]), arrays[name].dtype)})


def bound_above(header, arrays):
    """Claim more than is attained."""
    header["claim"]["lower_bound"] = header["claim"]["objective"] * (1 + 1e-6)


CHANGES = {
    "bound above the objective": bound_above,
    "smaller objective": claim(objective=1 - 1e-6),
    "a center less": claim(solution=lambda centers: centers[:-1]),
    "prices 1 % higher": array("prices", lambda p: p * 1.01),
    "prices 1 % lower": array("prices", lambda p: p * 0.99),
    "prices of other signs": array("prices", lambda p: -p),
    "prices of one leaf missing": array("prices", lambda p: p[1:]),
    "prices twice": array("prices", lambda p: np.concatenate([p, p])),
    "a sample without price": array("prices", lambda p: p[:, 1:]),
    "no prices": array("prices", lambda p: p * 0.0),
    "huge prices": array("prices", lambda p: p + 1e300),
    "a node missing": array("pairs", lambda p: p[:-1]),
    "nodes twice": array("pairs", lambda p: np.concatenate([p, p])),
    "a pair of one sample": array("pairs", lambda p: [[0, 0], *p.tolist()]),
    "half a pair": array("pairs", lambda p: p[:, :1]),
    "a sample that is none": array("pairs", lambda p: [[10**6, 1], [-1, -1], [-1, -1]]),
    "other number of clusters": lambda header, arrays: header.update(problem={"n_clusters": 7}),
    "no number of clusters": lambda header, arrays: header.update(problem={}),
    "no clusters": lambda header, arrays: header.update(problem={"n_clusters": 0}),
    "other data": lambda header, arrays: header.update(digest=""),
}
