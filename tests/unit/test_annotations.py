"""What a user's editor knows: everything public has a type, and none of them is Any."""

import dataclasses
import importlib
import inspect
import re
import typing
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import ArrayLike

import gopfast
from gopfast import annotations

# What the reference describes: docs/reference.py.
PACKAGES = ["gopfast", "gopfast.data", "gopfast.datasets", "gopfast.local", "gopfast.models"]
MODULES = [
    "gopfast.annotations", "gopfast.comparison", "gopfast.errors", "gopfast.figures", "gopfast.inference.candidates",
    "gopfast.inference.landscape", "gopfast.inference.likelihood_ratio", "gopfast.inference.profiles",
    "gopfast.inference.resampling",
    "gopfast.mixtures.local.starts", "gopfast.mixtures.summary", "gopfast.plot", "gopfast.report", "gopfast.restart",
    "gopfast.result",
]  # fmt: skip
OTHERS = {"gopfast.biconvex.problem": ["QuadraticRow"], "gopfast.options": ["Options", "seed_from"]}
HIDDEN = {"gopfast.result.to_json_types"}  # of anything, for the package itself
SPECIAL = {"__init__", "__getitem__", "__str__", "__repr__"}


class Unpack:
    """``typing.Unpack``, which Python 3.10 lacks: ``**options: Unpack[Options]`` has the types of the options."""

    def __class_getitem__(cls, options):
        return options


class Axes:
    """Stands for matplotlib's, which need not be installed."""


class DataFrame:
    """Stands for pandas', which need not be installed."""


def public_objects():
    """Every public function and class by its full name."""
    found = {}
    for name in PACKAGES:
        package = importlib.import_module(name)
        found |= {f"{name}.{one}": getattr(package, one) for one in package.__all__ if hasattr_or_skip(package, one)}
    for name in MODULES:
        module = importlib.import_module(name)
        own = {one: value for one, value in vars(module).items() if getattr(value, "__module__", None) == name}
        found |= {f"{name}.{one}": value for one, value in own.items() if not one.startswith("_")}
    for name, names in OTHERS.items():
        found |= {f"{name}.{one}": getattr(importlib.import_module(name), one) for one in names}
    objects = {
        name: value
        for name, value in found.items()
        if (inspect.isfunction(value) or inspect.isclass(value)) and value.__module__.startswith("gopfast")
    }
    return {name: value for name, value in objects.items() if name not in HIDDEN}


def hasattr_or_skip(package, name):
    """Whether a package has a name; the estimator needs scikit-learn."""
    try:
        return hasattr(package, name)
    except ImportError:
        return False


def callables():
    """Every public function, method and property by its full name."""
    for name, value in public_objects().items():
        if inspect.isfunction(value):
            yield name, value
            continue
        for base in value.__mro__:
            if not base.__module__.startswith("gopfast") or typing.is_typeddict(base):
                continue
            for member, attribute in vars(base).items():
                if not member.startswith("_") or member in SPECIAL:
                    function = inner(attribute)
                    if function is not None and written_here(function):
                        yield f"{name}.{member}", function


def inner(attribute):
    """The function of a method or property, or None."""
    if isinstance(attribute, property):
        return attribute.fget
    if isinstance(attribute, cached_property):
        return attribute.func
    if isinstance(attribute, (classmethod, staticmethod)):
        return attribute.__func__
    return inspect.unwrap(attribute) if inspect.isfunction(attribute) else None


def written_here(function):
    """Whether a function stands in a file of the package: dataclasses make some."""
    return Path(function.__code__.co_filename).exists() and function.__module__.startswith("gopfast")


CALLABLES = dict(callables())
CLASSES = {name: value for name, value in public_objects().items() if inspect.isclass(value)}
NAMES = {
    **vars(annotations),
    **{name.rpartition(".")[2]: value for name, value in public_objects().items()},
    "Unpack": Unpack, "Axes": Axes, "DataFrame": DataFrame, "Json": object,
}  # fmt: skip


def holds_any(hint):
    """Whether an annotation lets anything pass. NumPy's own `ArrayLike`, and the shape of an array, may."""
    if hint in typing.get_args(ArrayLike):
        return False
    if typing.get_origin(hint) is np.ndarray:
        return holds_any(typing.get_args(hint)[1])
    parts = hint if isinstance(hint, list) else typing.get_args(hint)
    return hint in (typing.Any, np.ndarray, dict, list, tuple) or any(map(holds_any, parts))


def test_there_is_much_to_look_at():
    assert {"gopfast.solve", "gopfast.Result.gap", "gopfast.local.em", "gopfast.figures.density"} <= CALLABLES.keys()
    assert {"gopfast.BiconvexProblem.__init__", "gopfast.models.MixtureProblem.objective"} <= CALLABLES.keys()
    assert len(CALLABLES) > 100


@pytest.mark.parametrize("name", CALLABLES)
def test_every_parameter_and_return_value_has_a_type(name):
    function = CALLABLES[name]
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())
    if parameters and parameters[0].name in ("self", "cls"):
        parameters = parameters[1:]
    bare = [one.name for one in parameters if one.annotation is inspect.Parameter.empty]
    bare += ["return"] if signature.return_annotation is inspect.Signature.empty else []
    assert bare == []


@pytest.mark.parametrize("name", CALLABLES)
def test_no_type_is_any(name):
    hints = typing.get_type_hints(CALLABLES[name], localns=NAMES)
    lax = {what: hint for what, hint in hints.items() if holds_any(hint)}
    assert lax == {}


def documented_attributes(cls):
    """Names under the heading Attributes of a docstring in NumPy's style."""
    _, _, section = inspect.cleandoc(cls.__doc__ or "").partition("Attributes\n----------\n")
    section = re.split(r"\n\n\w[\w ]*\n-{3,}", section)[0]
    lines = [line for line in section.splitlines() if line and not line.startswith(" ")]
    return [name.strip() for line in lines for name in line.split(" : ")[0].split(",")]


@pytest.mark.parametrize("name", CLASSES)
def test_every_documented_attribute_has_a_type(name):
    cls = CLASSES[name]
    hints = {}
    for base in reversed(cls.__mro__):
        if base.__module__.startswith("gopfast"):
            hints |= typing.get_type_hints(base, localns=NAMES)
    attributes = documented_attributes(cls)
    if dataclasses.is_dataclass(cls):
        attributes += [field.name for field in dataclasses.fields(cls)]
    properties = {one for one in attributes if inner(inspect.getattr_static(cls, one, None)) is not None}
    assert [one for one in attributes if one not in hints and one not in properties] == []
    assert [one for one in attributes if one in hints and holds_any(hints[one])] == []


def test_the_package_says_that_it_is_typed():
    assert (Path(gopfast.__file__).parent / "py.typed").is_file()
