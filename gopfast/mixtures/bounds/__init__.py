"""Bounds of the objective of a mixture from below, and EM from above."""

import importlib


def __getattr__(name):
    """Load a module when it is first asked for: LPs need HiGHS, and not every solve needs every bound."""
    if name.startswith("__"):
        raise AttributeError(name)
    try:
        return importlib.import_module(f"{__name__}.{name}")
    except ModuleNotFoundError as error:
        raise AttributeError(f"there is no module {name!r} of bounds") from error
