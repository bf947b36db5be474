"""Which mechanisms of the searches are switched off, in this thread and what it starts (`gopfast.settings`)."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_OFF: ContextVar[frozenset[str]] = ContextVar("gopfast_switched_off", default=frozenset())


def switched_off() -> frozenset[str]:
    """Return the names of the mechanisms that are switched off."""
    return _OFF.get()


@contextmanager
def only_off(names: Iterable[str]) -> Iterator[None]:
    """Switch these mechanisms off, and all others on."""
    token = _OFF.set(frozenset(names))
    try:
        yield
    finally:
        _OFF.reset(token)
