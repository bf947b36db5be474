"""Changes that make a proof of clusterwise least squares one of something else: of header and arrays in place."""

import numpy as np


def claim(**entries):
    """Change the claim by factors."""
    return lambda header, arrays: header["claim"].update({k: header["claim"][k] * by for k, by in entries.items()})


def said(**entries):
    """Say something else in the header."""
    return lambda header, arrays: header.update(entries)


def array(name, by):
    """Change an array."""
    return lambda header, arrays: arrays.update({name: np.asarray(by(arrays[name]), arrays[name].dtype)})


def first_split(by):
    """Change the first split that is none of a leaf."""

    def changed(splits):
        splits = splits.copy()
        splits[0] = by(splits[0])
        return splits

    return array("splits", changed)


def solution(header, arrays):
    """Claim coefficients that are not the best."""
    header["claim"]["solution"]["coefficients"][0][0] += 0.1


CHANGES = {
    "bound a little too large": claim(lower_bound=1 + 1e-5),
    "all of the gap": lambda header, arrays: header["claim"].update(lower_bound=header["claim"]["objective"]),
    "smaller objective": claim(objective=1 - 1e-6),
    "other coefficients": solution,
    "dependent places": lambda header, arrays: header.update(axes=[header["axes"][0]] * 2),
    "a place less": lambda header, arrays: header.update(axes=header["axes"][:1]),
    "other unit": lambda header, arrays: header.update(unit=header["unit"] * 2),
    "no unit": said(unit=0.0),
    "unit that is no power of 2": lambda header, arrays: header.update(unit=header["unit"] * 1.5),
    "prices 1 % higher": array("prices", lambda p: p * 1.01),
    "prices 1 % lower": array("prices", lambda p: p * 0.99),
    "prices of other signs": array("prices", lambda p: -p),
    "prices of one leaf missing": array("prices", lambda p: p[1:]),
    "prices twice": array("prices", lambda p: np.concatenate([p, p])),
    "a sample without price": array("prices", lambda p: p[:, 1:]),
    "huge prices": array("prices", lambda p: p + 1e300),
    "lower limits": array("limits", lambda p: p * 0.999),
    "higher limits": array("limits", lambda p: p * 1.001),
    "limits below 0": array("limits", lambda p: -p),
    "a limit less": array("limits", lambda p: p[1:]),
    "a node missing": array("splits", lambda p: p[:-1]),
    "a leaf missing": lambda header, arrays: arrays.update(splits=arrays["splits"][:-1], points=arrays["points"][:-1]),
    "nodes twice": lambda header, arrays: arrays.update(
        splits=np.concatenate([arrays["splits"]] * 2), points=np.concatenate([arrays["points"]] * 2)),
    "points elsewhere": array("points", lambda p: p + 1.0),
    "a box that is none": first_split(lambda row: [5, row[1]]),
    "a coefficient that is none": first_split(lambda row: [row[0], 2]),
    "half a split": array("splits", lambda p: p[:, :1]),
    "other number of classes": said(problem={"n_clusters": 1, "fit_intercept": True}),
    "no intercept": said(problem={"n_clusters": 2, "fit_intercept": False}),
    "no number of classes": said(problem={}),
    "other data": said(digest=""),
}  # fmt: skip
