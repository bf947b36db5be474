"""Who may import whom: each room only what lies below it, and nothing in a circle."""

import ast
import functools
import importlib
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import gopfast

PACKAGE = Path(gopfast.__file__).resolve().parent
SOURCES = Path(__file__).resolve().parents[2] / "src" / "gopfast"
# What the rooms import from the top: below them all. The rest of the top is above.
GROUND = {
    "annotations", "checks", "classification", "drawing", "errors", "figures", "monitor", "options", "outlook",
    "profile", "proof", "report", "result", "roundoff", "starts", "switches", "tuning", "version", "words",
}  # fmt: skip
# Room -> what it may import beside itself and the ground.
BELOW = {
    "search": set(),
    "reading": set(),
    "checker": set(),
    "lp": {"search"},
    "biconvex": {"search", "lp"},
    "clustering": {"search", "lp"},
    "clusterwise": {"search", "clustering"},
    "clusterwise.solve": {"mixtures"},  # coordinates of regressions
    "clusterwise.proof": {"checker"},
    "mixtures": {"search"},
    "mixtures.primal.em": {"clustering"},  # starts
    "mixtures.relaxations.linear": {"lp"},  # the paper's relaxed dual
    "mixtures.relaxations.linear_rows": {"lp"},
    "biconvex.proof": {"checker"},
    "clustering.proof": {"checker"},
    "mixtures.recording": {"checker"},
    "mixtures.hull_record": {"checker"},
    "mixtures.shared_proof": {"checker"},
    "mixtures.statement": {"checker"},
    "mixtures.proof": {"checker"},  # proofs are written in its format, with its arithmetic
}
# The base class of all errors, which the checker owns since it takes nothing from the package.
EXCEPTIONS = {("errors", "checker.errors")}


def name_of(path, root):
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


PYTHON = {name_of(path, PACKAGE): path for path in PACKAGE.rglob("*.py")}
CYTHON = sorted([*SOURCES.rglob("*.pyx"), *SOURCES.rglob("*.pxd")])
MODULES = {*PYTHON, *(name_of(path, SOURCES) for path in CYTHON)}
# All but the .pxd files that only declare.
LOADED = {*PYTHON, *(name_of(path, SOURCES) for path in CYTHON if path.suffix == ".pyx")}


def module_of(target, names):
    """Modules that ``from gopfast.<target> import <names>`` loads."""
    place = ".".join(filter(None, target.split(".")[1:]))
    inner = {f"{place}.{name}".strip(".") for name in names}
    return {name for name in inner if name in MODULES} | ({place} if inner - MODULES or not inner else set())


def is_for_annotations(node):
    """Whether a statement is for type checkers only, so that it loads nothing."""
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


@functools.cache
def import_statements(path):
    """Imports of a Python file, each with whether it is in a function and whether it is for annotations alone."""
    found = []

    def visit(node, inside, lax):
        if isinstance(node, ast.ImportFrom | ast.Import):
            found.append((node, inside, lax))
        elif not isinstance(node, ast.expr):
            for part in ast.iter_child_nodes(node):
                visit(part, inside or isinstance(node, ast.FunctionDef), lax)

    for node in ast.parse(path.read_text()).body:
        visit(node, False, is_for_annotations(node))
    return found


def imports(path, everywhere=True, annotations=False):
    """Modules of the package that a Python module imports: in functions too, or only where it is loaded."""
    found = set()
    for node, inside, lax in import_statements(path):
        if (lax and not annotations) or (inside and not everywhere):
            continue
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "gopfast":
            found |= module_of(node.module, [alias.name for alias in node.names])
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if alias.name.startswith("gopfast.")]
            found |= {name.partition(".")[2] for name in names}
    return found


def cython_imports(path, everywhere=True):
    """Modules of the package that a Cython file imports or cimports: in functions too, or only where it is loaded."""
    pattern = r"from (gopfast[\w.]*) c?import (\([^)]*\)|.*)$"
    lines = re.finditer((r"^\s*" if everywhere else "^") + pattern, path.read_text(), re.M)
    return set().union(*(module_of(line[1], re.findall(r"\w+", line[2])) for line in lines))


def room(module):
    """The room of a module; of the top: 'ground' or 'top'."""
    first = module.partition(".")[0]
    return first if first in BELOW else "ground" if module in GROUND else "top"


def wrong(module, targets):
    """The imports of a module that look up."""
    if room(module) == "top":
        return set()
    allowed = {"ground", room(module), *BELOW.get(room(module), ()), *BELOW.get(module, ())}
    return {target for target in targets if room(target) not in allowed and (module, target) not in EXCEPTIONS}


def test_python_modules_import_only_what_lies_below_them():
    assert {module: found for module, path in PYTHON.items() if (found := wrong(module, imports(path)))} == {}


@pytest.mark.skipif(not CYTHON, reason="no source tree beside the tests")
def test_compiled_modules_import_only_what_lies_below_them():
    found = {str(path): wrong(name_of(path, SOURCES), cython_imports(path)) for path in CYTHON}
    assert {path: targets for path, targets in found.items() if targets} == {}


def test_no_python_modules_import_each_other_in_a_circle():
    # the package itself imports what users call, and none of it imports the package's names where it is loaded
    graph = {module: imports(path, everywhere=False) - {module} for module, path in PYTHON.items() if module}
    TopologicalSorter({module: targets - {""} for module, targets in graph.items()}).prepare()


def test_tools_that_read_all_imports_see_no_circle_but_of_methods_that_read_and_draw():
    """Of what is imported for annotations and in functions too."""
    methods = {
        ("biconvex.problem", "biconvex.files"), ("biconvex.problem", "biconvex.qplib"),  # BiconvexProblem.read
        ("inference.candidates", "plot"), ("inference.landscape", "plot"),  # Selection.plot, Optima.plot
    }  # fmt: skip
    graph = {module: imports(path, annotations=True) - {module, ""} for module, path in PYTHON.items() if module}
    for module, target in methods:
        graph[module].remove(target)
    TopologicalSorter(graph).prepare()


def test_each_room_of_the_mixtures_takes_from_those_below_alone():
    """Of two in one storey neither takes from the other. A method may name what is built on its class."""
    storeys = [
        ("mixtures.data.",), ("mixtures.families.",), ("mixtures.mixing.", "mixtures.primal.", "mixtures.learning."),
        ("mixtures.relaxations.", "mixtures.incumbent."), ("mixtures.pricing.", "mixtures.shared."),
        ("mixtures.engine", "mixtures.core_axes"),
    ]  # fmt: skip

    def storey(module):
        return next((i for i, rooms in enumerate(storeys) if module.startswith(rooms)), -1)

    every = {str(path): (name, imports(path, everywhere=False)) for name, path in PYTHON.items()}
    every |= {str(path): (name_of(path, SOURCES), cython_imports(path, everywhere=False)) for path in CYTHON}

    def is_below(target, name):
        below, here = storey(target), storey(name)
        return below < here or (below == here and target.rpartition(".")[0] == name.rpartition(".")[0])

    up = {
        path: {x for x in targets if storey(name) >= 0 and not is_below(x, name)}
        for path, (name, targets) in every.items()
        if name.startswith("mixtures.")
    }
    assert {path: targets for path, targets in up.items() if targets} == {}


def test_starts_and_restarts_are_above_what_they_use():
    assert "mixtures.local.starts" not in imports(PYTHON["mixtures.local._kmeans"])
    assert not [module for module in MODULES if module.startswith("mixtures") and "restart" in module]


@pytest.mark.parametrize(("loaded", "absent"), [("biconvex", "mixtures"), ("mixtures", "biconvex"), ("search", "lp")])
def test_a_room_does_not_load_its_neighbour(loaded, absent, tmp_path):
    """The rooms by themselves, under a package that imports nothing."""
    modules = sorted(name for name in LOADED if name.split(".")[0] == loaded)
    assert len(modules) > 4
    code = (
        "import importlib, sys, types\n"
        f"package = types.ModuleType('gopfast'); package.__path__ = {list(gopfast.__path__)!r}\n"
        "sys.modules['gopfast'] = package\n"
        f"for name in {modules!r}: importlib.import_module('gopfast.' + name)\n"
        f"print([name for name in sys.modules if name.startswith('gopfast.{absent}')])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr


def test_the_checker_needs_nothing_but_numpy_and_what_is_beside_it():
    standard = {"collections", "dataclasses", "decimal", "fractions", "functools", "hashlib", "io", "itertools", "json"}
    allowed = standard | {"math", "os", "sys", "zipfile", "numpy", "numpy.typing"}
    for name in [name for name in PYTHON if name.split(".")[0] == "checker"]:
        nodes = [node for node in ast.walk(ast.parse(PYTHON[name].read_text()))]
        found = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
        outside = {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.level == 0}
        assert found | outside <= allowed, name
        assert all(node.level == 1 for node in nodes if isinstance(node, ast.ImportFrom) and node.level), name


@pytest.mark.skipif(not CYTHON, reason="no source tree beside the tests")
def test_every_compiled_module_lies_in_the_room_of_its_source():
    for path in CYTHON:
        if path.suffix == ".pyx":
            name = f"gopfast.{name_of(path, SOURCES)}"
            assert importlib.import_module(name).__name__ == name


def test_problems_load_nothing_compiled(tmp_path):
    """They are the core's oracle: a method imports the family where the problem is solved."""
    modules = [name for name in PYTHON if name.startswith("mixtures.problems")]
    code = (
        "import importlib, sys, types\n"
        f"package = types.ModuleType('gopfast'); package.__path__ = {list(gopfast.__path__)!r}\n"
        "sys.modules['gopfast'] = package\n"
        f"for name in {modules!r}: importlib.import_module('gopfast.' + name)\n"
        "names = [name for name in sys.modules if name.startswith('gopfast.')]\n"
        "print([name for name in names if not sys.modules[name].__file__.endswith('.py')])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr
