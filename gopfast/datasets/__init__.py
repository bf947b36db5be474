"""
The data sets and biconvex problems of the documentation, which come with the package.

>>> from gopfast import datasets
>>> datasets.load_galaxies().shape
(82, 1)
>>> datasets.load_problem("haverly").n_variables
12

Samples, by functions such as `load_galaxies`, which return data frames if asked to, or by name for `load` (where they
were published, and what is known of their licences: ``README.md`` beside this file):

=============== ==== ======= ============================================================================
name            rows columns what
=============== ==== ======= ============================================================================
``minimal``     4    1       -10, -10, 5, 25: the minimal data set of the method's source
``galaxies``    82   1       velocities of galaxies in the Corona Borealis region, km/s
``acidity``     155  1       log acid-neutralising capacity of lakes in Wisconsin
``enzyme``      245  1       enzymatic activity in blood
``faithful``    272  2       Old Faithful: length of an eruption and waiting time for the next, minutes
``tonedata``    150  2       stretch ratio of a tone's overtones, and what a musician tuned it to
``co2data``     28   2       gross national product and CO2 emission per head of 28 countries in 1996
``npreg``       200  4       simulated regressions: x, a normal and a Poisson response, the class
``fabricfault`` 32   2       faults of rolls of fabric, and their lengths
``patent``      70   3       patents of firms, research as a share of sales, its logarithm
``seizure``     140  4       seizures of a patient, hours watched, treatment, day
``candy``       21   2       packages of candy sold, and by how many stores
``betablocker`` 44   4       deaths of patients in 22 centres, treated or not
``tribolium``   27   4       beetles that remained of 50, by replicate and species
=============== ==== ======= ============================================================================

Tables of labels for latent class models, by name for `load_labels`:

============= ==== ======= ============================================================================
name          rows columns what
============= ==== ======= ============================================================================
``carcinoma`` 118  7       seven pathologists on slides: carcinoma or not
``cheating``  319  4       students on four kinds of cheating
``gss82``     1202 4       attitudes to surveys, General Social Survey of 1982
``values``    216  4       four situations of role conflict: universalistic or particularistic values
============= ==== ======= ============================================================================

`problem_names` lists the biconvex problems; each has a published optimum.
"""

from typing import TYPE_CHECKING

from gopfast.datasets.files import file, folder, labels, numbers, stems
from gopfast.datasets.loaders import (
    load_acidity,
    load_betablocker,
    load_candy,
    load_carcinoma,
    load_cheating,
    load_co2data,
    load_enzyme,
    load_fabricfault,
    load_faithful,
    load_galaxies,
    load_gss82,
    load_minimal,
    load_npreg,
    load_patent,
    load_seizure,
    load_tonedata,
    load_tribolium,
    load_values,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gopfast.annotations import FloatArray
    from gopfast.biconvex.problem import BiconvexProblem

__all__ = [
    "label_names",
    "load",
    "load_acidity",
    "load_betablocker",
    "load_candy",
    "load_carcinoma",
    "load_cheating",
    "load_co2data",
    "load_enzyme",
    "load_fabricfault",
    "load_faithful",
    "load_galaxies",
    "load_gss82",
    "load_labels",
    "load_minimal",
    "load_npreg",
    "load_patent",
    "load_problem",
    "load_seizure",
    "load_tonedata",
    "load_tribolium",
    "load_values",
    "names",
    "problem_names",
]


def names() -> list[str]:
    """
    Names of the data sets that `load` reads.

    Returns
    -------
    list of str
    """
    return stems(folder(), ".csv")


def problem_names() -> list[str]:
    """
    Names of the biconvex problems that `load_problem` reads.

    Returns
    -------
    list of str
    """
    return stems(folder() / "biconvex", ".json")


def label_names() -> list[str]:
    """
    Names of the tables of labels that `load_labels` reads.

    Returns
    -------
    list of str
    """
    return stems(folder() / "labels", ".csv")


def load(name: str) -> "FloatArray":
    """
    Read a data set.

    Parameters
    ----------
    name : str
        One of `names`.

    Returns
    -------
    ndarray, shape (n, d)
        One row per sample, in the units that the module's table states.

    Raises
    ------
    InputError
        If there is no data set of this name.
    """
    return numbers(name)[0]


def load_labels(name: str) -> "tuple[NDArray[np.str_], list[str]]":
    """
    Read a table of labels.

    Parameters
    ----------
    name : str
        One of `label_names`.

    Returns
    -------
    table, columns : ndarray of str, shape (n, d), and list of d str
        A row per subject; the items' names.

    Raises
    ------
    InputError
        As `load`.
    """
    return labels(name)


def load_problem(name: str) -> "BiconvexProblem":
    """
    Read a biconvex problem.

    Parameters
    ----------
    name : str
        One of `problem_names`, else an `InputError` is raised as by `load`.

    Returns
    -------
    BiconvexProblem
    """
    from importlib.resources import as_file

    from gopfast.biconvex.problem import BiconvexProblem

    with as_file(file(folder() / "biconvex", name, ".json", problem_names())) as path:
        return BiconvexProblem.from_json(path)
