"""The exceptions that gopfast raises, and its warning; that of proofs, and the base class of all, are the checker's."""

from gopfast.checker.errors import GopfastError


class InputError(GopfastError, ValueError):
    """An argument has a value that the called function cannot use; the message names the argument."""


class CheckpointError(GopfastError, ValueError):
    """A file from which no search can go on: damaged, of another version or program, or of another problem."""


class NotProvedWarning(UserWarning):
    """A fit of an estimator is not proved optimal; filter it by this class. It is a `ConvergenceWarning` too."""


class InputTypeError(InputError, TypeError):
    """An argument is of a wrong kind; caught by ``except TypeError`` and by ``except ValueError``."""
