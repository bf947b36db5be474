"""A function for each data set, which completion finds; the sources are in their docstrings and in ``README.md``."""

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from gopfast.datasets.files import as_asked, labels, numbers

if TYPE_CHECKING:
    from gopfast.annotations import DataFrame, FloatArray, StrArray

# What all of them take and return, in their docstrings.
COMMON = """\
Parameters
----------
as_frame : bool, default False
    Whether to return a data frame with the names of the columns; needs pandas.

Returns
-------
ndarray, shape (n, d), or pandas.DataFrame

"""
_Loader = TypeVar("_Loader", bound=Callable[..., object])


def described(load: _Loader) -> _Loader:
    """Put what all loaders take and return before the references of a loader's docstring."""
    if load.__doc__ is not None:  # none under python -OO
        what, heading, references = inspect.cleandoc(load.__doc__).partition("References\n")
        load.__doc__ = what + COMMON + heading + references
    return load


@described
def load_minimal(as_frame: bool = False) -> "FloatArray | DataFrame":
    """
    Read the minimal data set of the method's source.

    n = 4: -10, -10, 5, 25.

    References
    ----------
    Saddiki, Trapp & Flaherty, "A Deterministic Global Optimization Method for Variational Inference".
    """
    return as_asked(*numbers("minimal"), as_frame)


@described
def load_galaxies(as_frame: bool = False) -> "FloatArray | DataFrame":
    """
    Read the velocities of 82 galaxies in the Corona Borealis region.

    Column "velocity_km_s", in km/s; divide by 1000 as usual.

    References
    ----------
    Postman, Huchra & Geller, The Astronomical Journal 92 (1986); Roeder, "Density estimation with confidence sets
    exemplified by superclusters and voids in the galaxies", JASA 85 (1990). The 78th value is 26690, not the widespread
    26960.
    """
    return as_asked(*numbers("galaxies"), as_frame)


@described
def load_acidity(as_frame: bool = False) -> "FloatArray | DataFrame":
    """
    Read the acidity index of 155 lakes in Wisconsin.

    One column, the log acid-neutralising capacity.

    References
    ----------
    Crawford, DeGroot, Kadane & Small, "Modeling lake-chemistry distributions", Technometrics 34 (1992).
    """
    return as_asked(*numbers("acidity"), as_frame)


@described
def load_enzyme(as_frame: bool = False) -> "FloatArray | DataFrame":
    """
    Read the enzymatic activity in the blood of 245 people.

    One column.

    References
    ----------
    Bechtel, Bonaiti-Pellie, Poisson, Magnette & Bechtel, Clinical Pharmacology & Therapeutics 54 (1993).
    """
    return as_asked(*numbers("enzyme"), as_frame)


@described
def load_faithful(as_frame: bool = False) -> "FloatArray | DataFrame":
    """
    Read 272 eruptions of Old Faithful.

    Columns "eruption_min" and "waiting_min": length and waiting time for the next, in minutes.

    References
    ----------
    Azzalini & Bowman, "A look at some data on the Old Faithful geyser", Applied Statistics 39 (1990).
    """
    return as_asked(*numbers("faithful"), as_frame)


@described
def load_tonedata(as_frame: bool = False) -> "FloatArray | DataFrame":
    """
    Read 150 trials of an experiment on the perception of tones.

    Columns "stretchratio" of the overtones, and "tuned", the ratio to the fundamental that a musician tuned to.

    References
    ----------
    Cohen, "Inharmonic tone perception", dissertation, Stanford 1980; De Veaux, "Mixtures of linear regressions",
    Computational Statistics & Data Analysis 8 (1989). As the R package mixtools has it.
    """
    return as_asked(*numbers("tonedata"), as_frame)


@described
def load_co2data(as_frame: bool = False) -> "FloatArray | DataFrame":
    """
    Read gross national product and CO2 emission of 28 countries in 1996.

    Columns "GNP" and "CO2", both per head.

    References
    ----------
    Hurn, Justel & Robert, "Estimating mixtures of regressions", Journal of Computational and Graphical Statistics 12
    (2003). As the R package mixtools has it.
    """
    return as_asked(*numbers("co2data"), as_frame)


@described
def load_npreg(as_frame: bool = False) -> "FloatArray | DataFrame":
    """
    Read 200 simulated samples of two regressions.

    Columns "x", "yn", normal on 5 x (class 1) or 40 - (x - 5)^2 (class 2), "yp", counts, and "class".

    References
    ----------
    Leisch, "FlexMix: a general framework for finite mixture models and latent class regression in R", Journal of
    Statistical Software 11 (2004). As the R package flexmix has it.
    """
    return as_asked(*numbers("npreg"), as_frame)


@described
def load_fabricfault(as_frame: bool = False) -> "FloatArray | DataFrame":
    """
    Read the numbers of faults in 32 rolls of fabric.

    Columns "Length" of the roll and "Faults".

    References
    ----------
    Aitkin, "A general maximum likelihood analysis of overdispersion in generalized linear models", Statistics and
    Computing 6 (1996). As the R package flexmix has it.
    """
    return as_asked(*numbers("fabricfault"), as_frame)


@described
def load_patent(as_frame: bool = False) -> "FloatArray | DataFrame":
    """
    Read the numbers of patents of 70 firms in 1976.

    Columns "Patents", "RDS", research and development as a share of sales, and "lgRD", the logarithm of what was spent.

    References
    ----------
    Wang, Cockburn & Puterman, "Analysis of patent data: a mixed-Poisson-regression-model approach", Journal of Business
    & Economic Statistics 16 (1998). As the R package flexmix has it.
    """
    return as_asked(*numbers("patent"), as_frame)


@described
def load_seizure(as_frame: bool = False) -> "FloatArray | DataFrame":
    """
    Read the numbers of epileptic seizures of one patient on 140 days.

    Columns "Seizures", "Hours" for which parents watched, "Treatment" (1 from day 29 on) and "Day".

    References
    ----------
    Wang, Puterman, Cockburn & Le, "Mixed Poisson regression models with covariate dependent rates", Biometrics 52
    (1996). As the R package flexmix has it.
    """
    return as_asked(*numbers("seizure"), as_frame)


@described
def load_candy(as_frame: bool = False) -> "FloatArray | DataFrame":
    """
    Read how many stores have sold how many packages of hard candy in a week.

    Columns "Packages", 0 to 20, and "Freq", the number of stores.

    References
    ----------
    Boehning, Dietz & Schlattmann, "Recent developments in computer-assisted analysis of mixtures", Biometrics 54
    (1998). As the R package flexmix has it.
    """
    return as_asked(*numbers("candy"), as_frame)


@described
def load_betablocker(as_frame: bool = False) -> "FloatArray | DataFrame":
    """
    Read the numbers of deaths after a heart attack in 22 clinical centres, with beta blockers and without.

    Columns "Deaths", "Total" of patients, "Center", 1 to 22, and "Treatment" (1 with beta blockers).

    References
    ----------
    Yusuf, Peto, Lewis, Collins & Sleight, "Beta blockade during and after myocardial infarction: an overview of the
    randomized trials", Progress in Cardiovascular Diseases 27 (1985); Aitkin, "Meta-analysis by random effect modelling
    in generalized linear models", Statistics in Medicine 18 (1999). As the R package flexmix has it.
    """
    return as_asked(*numbers("betablocker"), as_frame)


@described
def load_tribolium(as_frame: bool = False) -> "FloatArray | DataFrame":
    """
    Read the numbers of flour beetles that remained of 50 in 27 trials.

    Columns "Remaining", "Total", "Replicate" and "Species": 1 Castaneum, 2 Confusum, 3 Madens.

    References
    ----------
    Wang & Puterman, "Mixed logistic regression models", Journal of Agricultural, Biological, and Environmental
    Statistics 3 (1998). As the R package flexmix has it.
    """
    return as_asked(*numbers("tribolium"), as_frame)


@described
def load_carcinoma(as_frame: bool = False) -> "StrArray | DataFrame":
    """
    Read the ratings of 118 slides by seven pathologists.

    Items A to G: "1" or "2" (carcinoma).

    References
    ----------
    Landis & Koch, Biometrics 33 (1977); Agresti, Categorical Data Analysis, 2002. As the R package poLCA has it.
    """
    return as_asked(*labels("carcinoma"), as_frame)


@described
def load_cheating(as_frame: bool = False) -> "StrArray | DataFrame":
    """
    Read the answers of 319 students on four kinds of cheating.

    Lying about an exam and a paper, fraud, copying.

    References
    ----------
    Dayton, Latent Class Scaling Analysis, 1998. As the R package poLCA has it.
    """
    return as_asked(*labels("cheating"), as_frame)


@described
def load_gss82(as_frame: bool = False) -> "StrArray | DataFrame":
    """
    Read attitudes to surveys of 1202 respondents of the General Social Survey of 1982.

    Four items.

    References
    ----------
    McCutcheon, Latent Class Analysis, 1987. As the R package poLCA has it.
    """
    return as_asked(*labels("gss82"), as_frame)


@described
def load_values(as_frame: bool = False) -> "StrArray | DataFrame":
    """
    Read 216 answers on four situations of role conflict.

    Four items: universalistic or particularistic values.

    References
    ----------
    Stouffer & Toby, American Journal of Sociology 56 (1951); Goodman, Biometrika 61 (1974). As poLCA has it.
    """
    return as_asked(*labels("values"), as_frame)
