"""The files of the data sets, and how they are read."""

from gopfast.errors import InputError

PACKAGE = "gopfast.datasets"


def labels(name):
    """Read a table of labels and the names of its columns."""
    import numpy as np

    with file(folder() / "labels", name, ".csv", stems(folder() / "labels", ".csv")).open(encoding="utf-8") as lines:
        columns, *rows = (line.rstrip("\n").split(",") for line in lines)
    return np.array(rows), columns


def numbers(name):
    """Read samples and the names of their columns."""
    import numpy as np

    with file(folder(), name, ".csv", stems(folder(), ".csv")).open(encoding="utf-8") as lines:
        columns = next(lines).strip().split(",")
        return np.loadtxt(lines, delimiter=",", ndmin=2), columns


def as_asked(table, columns, as_frame):
    """Return a table as it is, or as a data frame."""
    if not as_frame:
        return table
    import pandas

    return pandas.DataFrame(table, columns=columns)


def folder():
    """Return where the files are."""
    # imported here: slow to import, and most programs read no data set
    from importlib.resources import files

    return files(PACKAGE)


def stems(folder, suffix):
    """Return the names of the files with a suffix, without it."""
    return sorted(item.name.removesuffix(suffix) for item in folder.iterdir() if item.name.endswith(suffix))


def file(folder, name, suffix, known):
    """Return a file by its name, which must be a known one."""
    if name not in known:
        raise InputError(f"name must be one of {', '.join(known)}; got {name!r}")
    return folder / f"{name}{suffix}"
