"""The mechanisms of all searches by name, and `settings`, which switches them off."""

from collections.abc import Iterator
from contextlib import contextmanager

from gopfast.biconvex.mechanisms import MECHANISMS as OF_BICONVEX_PROBLEMS
from gopfast.errors import InputError, InputTypeError
from gopfast.mixtures.mechanisms import MECHANISMS as OF_MIXTURES
from gopfast.search.mechanism import Mechanism
from gopfast.switches import only_off, switched_off

MECHANISMS: tuple[type[Mechanism], ...] = (*OF_MIXTURES, *OF_BICONVEX_PROBLEMS)
SWITCHES: tuple[str, ...] = tuple(mechanism.name for mechanism in MECHANISMS if mechanism.optional)


@contextmanager
def settings(**switches: bool) -> Iterator[None]:
    """
    Switch mechanisms of the searches off, or on again, within a ``with`` statement.

    What is proved does not depend on them, nor, within the tolerance, the optimum that is found: only the work. So a
    mechanism can be left out of the account where something is doubted, and what it is worth can be measured;
    ``result.profile`` says what each has done. By default all are on, where they apply.

    Parameters
    ----------
    **switches : bool
        ``name=False`` switches a mechanism off, ``name=True`` on. Others stay as they are.

    Raises
    ------
    InputError
        If there is no mechanism of a name, or none that searches can do without; the message lists them.

    Notes
    -----
    It holds for what is started within the statement, by this thread: also for parts of a search that an executor
    runs, and for a search that `gopfast.resume` goes on with.

    Examples
    --------
    >>> import gopfast
    >>> problem = gopfast.GaussianMixture(gopfast.datasets.load("galaxies") / 1000, 4, covariance="known")
    >>> with gopfast.settings(hitting_sets=False, hessian_box=False):
    ...     result = gopfast.solve(problem)
    >>> result.success, result.profile["hessian_box"].calls
    (True, 0)
    """
    off = set(switched_off())
    for name, value in switches.items():
        if name not in SWITCHES:
            raise InputError(f"there is no mechanism {name!r} to switch off; there are {', '.join(SWITCHES)}")
        if not isinstance(value, bool):
            raise InputTypeError(f"{name} must be True or False; got {value!r}")
        if value:
            off.discard(name)
        else:
            off.add(name)
    with only_off(off):
        yield
