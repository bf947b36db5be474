"""Modules and pickles from before the modules were sorted into rooms."""

import base64
import importlib
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gopfast
from gopfast import _moved

BLOCKS = Path(__file__).with_name("old_pickles.txt").read_text().split("\n\n")[1:]
PICKLES = {name: base64.b64decode(text) for name, _, text in (block.partition("\n") for block in BLOCKS)}
# where the package under test is, installed or built in place
ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(gopfast.__file__).resolve().parents[1])}


def load(name):
    # of scikit-learn only the version that it was pickled with is sure
    return pickle.loads(PICKLES[name])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")
@pytest.mark.parametrize("name", PICKLES)
def test_an_old_pickle_is_of_the_class_that_there_is_now(name):
    found = load(name)
    assert type(found).__name__ == name
    assert getattr(sys.modules[type(found).__module__], name) is type(found)
    assert type(pickle.loads(pickle.dumps(found))) is type(found)
    assert type(found).__module__ not in {f"gopfast.{old}" for old in _moved.MODULES}


# Written after the package had rooms: there are no pickles of them that name an old module.
NEWER = {
    "Bootstrap", "Checked", "CheckedBiconvex", "CheckpointError", "Clustering", "ClusteringResult",
    "GlobalBernoulliMixture", "GlobalCategoricalMixture", "GlobalExponentialMixture", "GlobalKMeans",
    "GlobalLatentClass", "GlobalPoissonMixture", "KMeans", "LatentClass", "LatentClassFit", "LikelihoodRatio",
    "LocalOptimum", "Optima", "Proof", "ProofError",
}  # fmt: skip


def test_every_public_class_has_an_old_pickle():
    classes = {name for name in gopfast.__all__ if isinstance(getattr(gopfast, name), type)} - NEWER
    assert classes - set(PICKLES) == {"GopfastError"}  # the base of the others, never raised itself


def test_what_an_old_pickle_holds_is_used_as_before():
    problem, result, fit = load("GaussianMixture"), load("Result"), load("LocalResult")
    np.testing.assert_array_equal(problem.X[:, 0], [-10, -10, 5, 25])
    assert result.success and result.elbo == pytest.approx(-89.5438, abs=1e-3)
    assert gopfast.solve(problem, epsilon=0.01).objective == pytest.approx(result.objective, abs=0.01)
    assert len(fit.solution.weights) == 2 and "ELBO" in str(result)
    point = load("BiconvexResult")
    assert point.success and point.elbo is None and "OPTIMAL" in str(point)
    assert load("BiconvexProblem").objective(point.solution.z) == pytest.approx(point.objective)


@pytest.mark.parametrize("old", _moved.MODULES)
def test_an_old_name_is_the_module_in_its_room(old):
    pytest.importorskip("cvxpy") if old == "_cvxpy" else None
    now = importlib.import_module(f"gopfast.{_moved.MODULES[old]}")
    assert importlib.import_module(f"gopfast.{old}") is now
    assert now.__name__ == now.__spec__.name == f"gopfast.{_moved.MODULES[old]}"


@pytest.mark.parametrize(
    "code",
    [
        "import gopfast.local; gopfast.local.em, gopfast.local.starts.kmeans",
        "import gopfast.models; gopfast.models.GaussianMixture, gopfast.models.biconvex.QuadraticRow",
        "from gopfast.models import BiconvexProblem, CategoricalMixture, MixtureProblem",
        "from gopfast.models.gaussian import GaussianMixture; import gopfast.models.biconvex",
        "import gopfast.local.starts; from gopfast.local.starts import start",
        "from gopfast.solution import MixtureSolution, to_json_types",
        "from gopfast.result import MixtureSolution, Result, Status",
        "import gopfast; gopfast.solution.MixtureSolution, gopfast.result.Result, gopfast.models.gaussian",
    ],
)
def test_public_names_are_imported_as_before(code, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_what_never_was_is_not_found():
    for module in (gopfast, gopfast.models, gopfast.result):
        with pytest.raises(AttributeError, match="has no attribute 'never'"):
            module.never  # noqa: B018
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("gopfast._never")


def test_nothing_in_the_package_uses_an_old_name(tmp_path):
    old = {f"gopfast.{name}" for name in _moved.MODULES}
    code = f"import sys, gopfast, gopfast.cli; print(set(sys.modules) & {old!r})"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "set()\n"), done.stderr
