"""How users name a kind of covariance: by the package's names, which are scikit-learn's, or by mclust's."""

from gopfast import checks
from gopfast.errors import InputError
from gopfast.mixtures.problems.covariance import KINDS, Diagonal, Full, Spherical, Tied, TiedDiagonal, TiedSpherical

# mclust's three letters: volume, shape and orientation of components' covariances, each E(qual), V(arying) or the
# I(dentity); in one column the volume alone.
OF_MCLUST = {
    "EII": TiedSpherical.name, "VII": Spherical.name, "EEI": TiedDiagonal.name, "VVI": Diagonal.name,
    "EEE": Tied.name, "VVV": Full.name, "E": Tied.name, "V": Diagonal.name,
}  # fmt: skip

# The other models of mclust, each with the least of ours that has it as a special case.
NEAREST = {
    "VEI": Diagonal.name, "EVI": Diagonal.name,
    **dict.fromkeys(("EVE", "VEE", "VVE", "EEV", "VEV", "EVV"), Full.name),
}  # fmt: skip

_LETTERS = {"E": "equal", "V": "varying", "I": "along the axes"}


def named(argument, value, n_columns=None):
    """
    Return the package's name of a kind of covariance.

    Parameters
    ----------
    argument : str
        Name of the argument, for the message.
    value : str
        One of `KINDS` or of `OF_MCLUST`.
    n_columns : int, optional
        Of the data, where it is known: "E" and "V" are of one column.

    Raises
    ------
    InputError
        If it is another name, one of mclust's that no kind is, or one that is for one column.
    """
    if not isinstance(value, str) or value not in (*OF_MCLUST, *NEAREST):
        return checks.choice(argument, value, tuple(KINDS))
    if value in NEAREST:
        parts = ", ".join(f"{_LETTERS[letter]} {part}" if letter != "I" else f"{part} {_LETTERS[letter]}"
                          for letter, part in zip(value, ("volume", "shape", "orientation"), strict=True))  # fmt: skip
        nearest = NEAREST[value]
        raise InputError(
            f"{argument} must not be mclust's {value!r} ({parts}), which has no kind here; {nearest!r} is the "
            "smallest that has it as a special case, so that its bounds hold for it too"
        )
    if len(value) == 1 and n_columns not in (None, 1):
        more = ", ".join(repr(name) for name in OF_MCLUST if name.startswith(value) and len(name) > 1)
        raise InputError(f"{argument}={value!r} is mclust's name for one column; X has {n_columns}: use one of {more}")
    return OF_MCLUST[value]
