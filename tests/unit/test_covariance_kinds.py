"""Kinds of covariance: one class each, which nothing else asks for by name."""

import ast
from pathlib import Path

import numpy as np
import pytest

import gopfast
from gopfast.mixtures.problems.covariance import KINDS, Known

K, D = 3, 2
FLOOR = np.array([0.3, 0.7])
FREE = [name for name, kind in KINDS.items() if kind.estimated]


def make(name):
    kind = KINDS[name]
    return kind(K, D, FLOOR if kind.floor_per_column else 0.3)


def drawn(name, rng):
    """Covariances of a kind, above the floor."""
    kind = make(name)
    A = rng.normal(size=(K, D, D))
    matrices = A @ A.transpose(0, 2, 1) + np.eye(D)
    if kind.free_form:
        matrices = np.tile(matrices[:1], (K, 1, 1)) if kind.shared else matrices
    else:
        variances = kind.variances(kind.from_free(1.0 + rng.random(kind.free_shape)))
        matrices = variances[:, :, np.newaxis] * np.eye(D)
    return kind, matrices


@pytest.mark.parametrize("name", FREE)
def test_covariances_become_matrices_and_back(name):
    kind, matrices = drawn(name, np.random.default_rng(1))
    covariances = kind.from_matrices(matrices)
    assert covariances.shape == kind.shape
    assert kind.matrix_shaped == (kind.shape[-2:] == (D, D) and name != "diag")
    assert np.array_equal(kind.matrices(covariances), matrices)
    assert np.array_equal(kind.variances(covariances), np.diagonal(matrices, axis1=1, axis2=2))
    assert np.array_equal(kind.checked(covariances.tolist()), covariances)


@pytest.mark.parametrize("name", FREE)
def test_floors_solutions_and_densities_are_those_of_the_matrices(name):
    rng = np.random.default_rng(2)
    kind, matrices = drawn(name, rng)
    covariances, values, means = kind.from_matrices(matrices), rng.normal(size=(K, D)), rng.normal(size=(K, D))
    root = np.sqrt(np.broadcast_to(kind.least, D))
    least = np.linalg.eigvalsh(matrices / np.outer(root, root)).min(axis=1)
    assert np.allclose(np.broadcast_to(kind.floors(covariances), K), least)
    solved = np.stack([np.linalg.solve(C, v) for C, v in zip(matrices, values, strict=True)])
    assert np.allclose(kind.solve(covariances, values), solved)
    X = rng.normal(size=(4, D))
    expected = [
        [-0.5 * ((x - m) @ np.linalg.solve(C, x - m) + np.linalg.slogdet(2.0 * np.pi * C)[1])
         for m, C in zip(means, matrices, strict=True)] for x in X
    ]  # fmt: skip
    assert np.allclose(kind.log_densities(X, means, covariances), expected)


@pytest.mark.parametrize("name", FREE)
def test_the_m_step_finds_the_best_covariances_above_the_floor(name):
    rng = np.random.default_rng(3)
    kind, _ = drawn(name, rng)
    X, mass = rng.normal(size=(20, D)) * [2.0, 0.3], rng.dirichlet(np.ones(K), 20)
    weights, means = mass.mean(axis=0), np.stack([m @ X / m.sum() for m in mass.T])
    best = kind.best(X, mass, weights, means)

    def cost(covariances):
        return -(mass * kind.log_densities(X, means, covariances)).sum()

    assert kind.checked(best) is not None
    for seed in range(40):
        _, matrices = drawn(name, np.random.default_rng(seed))
        other = kind.from_matrices(matrices)
        assert cost(best) <= cost(other) + 1e-9
        assert cost(best) <= cost(0.95 * best + 0.05 * other) + 1e-9


@pytest.mark.parametrize("name", FREE)
def test_as_many_variances_count_as_can_be_chosen(name):
    kind, _ = drawn(name, np.random.default_rng(4))
    # the dimension of the space that drawn covariances span
    drawn_ones = [kind.from_matrices(drawn(name, np.random.default_rng(seed))[1]).ravel() for seed in range(40)]
    assert kind.n_parameters == np.linalg.matrix_rank(np.array(drawn_ones))


@pytest.mark.parametrize("name", [name for name in FREE if not KINDS[name].free_form])
def test_sums_over_equal_variances_are_derivatives(name):
    kind, matrices = drawn(name, np.random.default_rng(5))
    free, slopes = kind.free(kind.from_matrices(matrices)), np.random.default_rng(6).normal(size=(K, D))
    assert free.shape == kind.free_shape
    moved = kind.variances(kind.from_free(free + 0.5)) - kind.variances(kind.from_free(free))
    assert np.isclose((slopes * moved).sum(), 0.5 * kind.pooled(slopes).sum())


def test_a_known_variance_is_no_parameter():
    kind = Known(K, D, FLOOR)
    assert (kind.estimated, kind.n_parameters) == (False, 0)
    assert np.array_equal(kind.matrices(None), np.tile(np.diag(FLOOR), (K, 1, 1)))


def names_compared(tree):
    """Names of kinds that a module compares something with, or looks up, by line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            values = [one for part in (node.left, *node.comparators) for one in ast.walk(part)]
        elif isinstance(node, ast.Dict):
            values = [key for key in node.keys if key is not None]
        else:
            continue
        yield from (one.lineno for one in values if isinstance(one, ast.Constant) and one.value in set(KINDS))


def test_no_module_compares_the_name_of_a_kind():
    package = Path(gopfast.__file__).resolve().parent
    found = {
        str(path.relative_to(package)): lines
        for path in package.rglob("*.py")
        if path.parent.name != "checker"  # shares nothing with the package; a proof names its family
        and (lines := list(names_compared(ast.parse(path.read_text()))))
    }
    assert found == {}
    assert list(names_compared(ast.parse("kind in ('tied', 'full') or {'diag': 1}[kind]"))) == [1, 1, 1]


MCLUST = {"EII": "tied_spherical", "VII": "spherical", "EEI": "tied_diag", "VVI": "diag", "EEE": "tied", "VVV": "full"}


@pytest.mark.parametrize(("name", "kind"), MCLUST.items())
def test_mclusts_names_are_taken_wherever_a_kind_is_named(name, kind):
    X = np.random.default_rng(7).normal(size=(12, 2))
    assert gopfast.GaussianMixture(X, 2, covariance=name).covariance == kind
    assert gopfast.GaussianMixture(X, 2, covariance_type=name).kind.name == kind
    assert gopfast.select(X, [1], covariances=name).covariance == kind
    assert gopfast.select(X, [1], covariance=name).covariance == kind


def test_names_of_one_column_are_of_one_column():
    x = np.random.default_rng(8).normal(size=12)
    assert [gopfast.GaussianMixture(x, 2, covariance=name).covariance for name in "EV"] == ["tied", "diag"]
    assert gopfast.select(x, [1], covariances=["E", "V"]).best.covariance in ("tied", "diag")
    with pytest.raises(gopfast.InputError, match="^covariance='E' is .* one column; X has 2: use one of 'EII'"):
        gopfast.GaussianMixture(np.ones((3, 2)), 2, covariance="E")
    with pytest.raises(gopfast.InputError, match="^covariances='V' is"):
        gopfast.select(np.ones((3, 2)), [1], covariances=["V"])


@pytest.mark.parametrize("name", ["VEI", "EVI", "EVE", "VEE", "VVE", "EEV", "VEV", "EVV"])
def test_mclusts_other_models_are_refused_with_the_nearest_kind(name):
    # a matrix of volume, shape and orientation (Celeux and Govaert 1995), of which all that varies may differ
    nearest = "diag" if name[2] == "I" else "full"
    with pytest.raises(gopfast.InputError, match=f"^covariance must not be mclust's '{name}' .*; '{nearest}' is the"):
        gopfast.GaussianMixture(np.ones((3, 2)), 2, covariance=name)
