"""The data passes against NumPy, and their exponential and logarithm against exact arithmetic."""

import math
import os
import shutil
import subprocess
from pathlib import Path

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.settings import examples

from gopfast.mixtures.data import passes

ULP = 2.0**-53
SEEDS = st.integers(0, 2**32 - 1)
many = examples(60)


@pytest.fixture(autouse=True, params=passes.instruction_sets())
def instruction_set(request):
    """Every test runs with every kernel that this machine can run."""
    passes.use_instruction_set(request.param)
    yield request.param
    passes.use_instruction_set()


def reference(columns, w, centers, offsets, pi, linear=0.0, quadratic=0.5, squares=False):
    """The sums of csrc/pass.h, written down, and the largest statistic."""
    z = columns.T[:, None, :] - centers
    cost = (z * (linear + quadratic * z)).sum(axis=2) - offsets
    if squares:
        z = np.concatenate([z, z**2], axis=2)
    with np.errstate(divide="ignore"):
        score = np.log(pi) - cost
    largest = score.max(axis=1, keepdims=True)
    log_p = largest[:, 0] + np.log(np.exp(score - largest).sum(axis=1))
    ratio = np.exp(-cost - log_p[:, None])  # exp(-c_ik) / p_i
    r = pi * ratio
    wr = w[:, None] * r
    rows = np.concatenate([r[:, :, None], r[:, :, None] * z], axis=2).reshape(len(w), -1)
    return {
        "value": -(w @ log_p),
        "density": w @ ratio,
        "first": np.einsum("ik,ikj->kj", wr, z),
        "second": np.einsum("ik,ikj,ikl->kjl", wr, z, z),
        "gram": np.einsum("i,ia,ib->ab", w, rows, rows),
    }, np.abs(z).max()


def problem(rng, n, d, K, shift=0.0, spread=3.0):
    columns = spread * rng.standard_normal((d, n)) + shift
    w = rng.choice([0.0, 0.5, 1.0, 2.0], n)
    w[0] = 1.0
    centers = columns.T[rng.integers(0, n, K)] + rng.standard_normal((K, d))
    pi = rng.dirichlet(np.ones(K))
    return columns, w, centers, rng.uniform(0.0, 5.0, K), pi


def assert_close(sums, expected, w, reach, rtol=1e-12):
    for name in ("density", "first", "second", "gram"):
        found, wanted = sums[name], expected[name]
        if name in ("second", "gram"):  # upper triangles
            found, wanted = np.triu(found), np.triu(wanted)
        power = {"density": 0, "first": 1, "second": 2, "gram": 2}[name]
        scale = np.abs(wanted).max() + w.sum() * max(reach, 1.0) ** power * (name != "density")
        np.testing.assert_allclose(found, wanted, rtol=rtol, atol=rtol * scale, err_msg=name)


@many
@given(
    blocks=st.sampled_from([1, 2, 3, 15, 16, 17, 31, 32, 33, 50]),
    d=st.integers(1, 4),
    K=st.integers(1, 6),
    seed=SEEDS,
)
def test_sums_agree_with_numpy(blocks, d, K, seed):
    arguments = problem(np.random.default_rng(seed), 8 * blocks, d, K)
    expected, reach = reference(*arguments)
    sums = passes.sums(*arguments)
    w = arguments[1]
    assert sums["value"] == pytest.approx(expected["value"], abs=64 * ULP * sums["magnitude"])
    assert_close(sums, expected, w, reach)


@many
@given(
    blocks=st.sampled_from([1, 2, 16, 33]),
    d=st.integers(1, 4),
    K=st.integers(1, 4),
    seed=SEEDS,
    squares=st.booleans(),
)
def test_sums_of_general_costs_agree_with_numpy(blocks, d, K, seed, squares):
    """Linear terms, a curvature per component, squares as statistics."""
    rng = np.random.default_rng(seed)
    arguments = problem(rng, 8 * blocks, d, K)
    costs = {
        "linear": rng.standard_normal((K, d)), "quadratic": rng.uniform(-0.2, 1.0, (K, d)), "squares": squares
    }  # fmt: skip
    expected, reach = reference(*arguments, **costs)
    sums = passes.sums(*arguments, **costs)
    assert sums["value"] == pytest.approx(expected["value"], rel=1e-12, abs=1e-11 * arguments[1].sum())
    assert_close(sums, expected, arguments[1], reach)


@pytest.mark.parametrize("level", [0, 1, 2])
def test_a_lower_level_gives_the_same_sums_and_leaves_the_rest_alone(level):
    arguments = problem(np.random.default_rng(7), 264, 2, 3)
    full, part = passes.sums(*arguments), passes.sums(*arguments, level=level)
    assert part["value"] == full["value"]
    assert part["magnitude"] == full["magnitude"]
    np.testing.assert_array_equal(part["density"], full["density"])
    if level == 1:  # without the covariances within a component
        full["second"] *= np.eye(2)
    for name, needed in (("first", 1), ("second", 1), ("gram", 2)):
        if level >= needed:
            np.testing.assert_allclose(part[name], full[name], rtol=1e-13, atol=1e-11)
        else:
            assert not part[name].any()


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_kept_exponentials_give_the_same_sums_to_the_last_digit(level):
    """At other weights, of more than one block of samples, the last of which is not full."""
    rng = np.random.default_rng(level)
    columns, w, centers, offsets, pi = problem(rng, 2 * 128 + 40, 2, 5)
    plain = passes.sums(columns, w, centers, offsets, pi, level=level, squares=True)
    again = passes.sums(
        columns, w, centers, offsets, pi, level=level, squares=True, kept_from=rng.uniform(0.1, 1, 5)
    )
    for name, found in again.items():
        np.testing.assert_array_equal(found, plain[name], err_msg=name)


@pytest.mark.parametrize("shift", [1e3, 1e6, -1e6])
def test_data_far_from_zero_lose_no_digits(shift):
    rng = np.random.default_rng(3)
    columns, w, centers, offsets, pi = problem(rng, 128, 2, 3)
    columns, centers = np.round(columns * 64) / 64, np.round(centers * 64) / 64  # exact after the shift
    near = passes.sums(columns, w, centers, offsets, pi)
    far = passes.sums(columns + shift, w, centers + shift, offsets, pi)
    for name in near:
        np.testing.assert_array_equal(far[name], near[name])


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
def test_large_offsets_and_distances_are_scaled_out(offset):
    rng = np.random.default_rng(11)
    columns, w, centers, _, pi = problem(rng, 64, 1, 2, spread=30.0)
    arguments = columns, w, centers, np.full(2, offset), pi
    expected, _ = reference(*arguments)
    sums = passes.sums(*arguments)
    assert sums["value"] == pytest.approx(expected["value"], abs=64 * ULP * sums["magnitude"])
    # Costs of different components differ by up to 10^4: the kernel's exponential stops at -708.
    cost_rounding = 1e-11 * (1.0 + offset / 1e3)
    np.testing.assert_allclose(sums["density"], expected["density"], rtol=cost_rounding, atol=1e-290)


def test_a_clipped_exponential_only_ever_raises_the_mixture_density():
    """Costs 800 above the least: p_i may come out too large, which lowers the value."""
    columns, w = np.zeros((1, 8)), np.ones(8)
    centers, pi = np.array([[0.0], [40.0]]), np.array([1e-300, 1.0])
    expected, _ = reference(columns, w, centers, np.zeros(2), pi)
    sums = passes.sums(columns, w, centers, np.zeros(2), pi)
    assert sums["value"] <= expected["value"] + 64 * ULP * sums["magnitude"]
    assert (sums["density"] > 0.0).all()


@many
@given(d=st.integers(1, 4), K=st.integers(2, 6), seed=SEEDS, spread=st.sampled_from([1.0, 60.0]))
def test_a_component_without_weight_does_not_change_the_value(d, K, seed, spread):
    """Also where it is by far the nearest one: an incumbent may hold such a component."""
    columns, w, centers, offsets, pi = problem(np.random.default_rng(seed), 64, d, K, spread=spread)
    pi[0] = 0.0
    pi /= pi.sum()
    with_it = passes.sums(columns, w, centers, offsets, pi)
    without = passes.sums(columns, w, centers[1:], offsets[1:], pi[1:])
    assert with_it["value"] == pytest.approx(without["value"], rel=1e-13)
    np.testing.assert_allclose(with_it["density"][1:], without["density"], rtol=1e-12)
    np.testing.assert_allclose(with_it["first"][1:], without["first"], rtol=1e-12, atol=1e-9)


@many
@given(d=st.integers(1, 3), K=st.integers(1, 4), seed=SEEDS)
def test_samples_without_weight_add_nothing(d, K, seed):
    rng = np.random.default_rng(seed)
    columns, w, centers, offsets, pi = problem(rng, 40, d, K)
    w[8:] = 0.0
    long = passes.sums(columns, w, centers, offsets, pi)
    short = passes.sums(columns[:, :8], w[:8], centers, offsets, pi)
    for name in long:
        np.testing.assert_allclose(
            long[name], short[name], rtol=1e-14, atol=1e-13 * np.abs(short[name]).max()
        )


@many
@given(d=st.integers(1, 3), K=st.integers(1, 5), seed=SEEDS, spread=st.sampled_from([1.0, 1e3]))
def test_the_value_stays_within_the_margin_the_bounds_subtract(d, K, seed, spread):
    """64 units of rounding times `magnitude`, against 50 digits."""
    rng = np.random.default_rng(seed)
    columns, w, centers, offsets, pi = problem(rng, 16, d, K, spread=spread)
    sums = passes.sums(columns, w, centers, offsets, pi)
    with mpmath.workdps(50):
        exact = mpmath.mpf(0)
        for i in range(columns.shape[1]):
            p = mpmath.fsum(
                mpmath.mpf(pi[k]) * mpmath.exp(
                    mpmath.mpf(offsets[k])
                    - mpmath.fsum(
                        (mpmath.mpf(columns[j, i]) - mpmath.mpf(centers[k, j])) ** 2 for j in range(d)
                    ) / 2
                )
                for k in range(K)
            )  # fmt: skip
            exact -= mpmath.mpf(w[i]) * mpmath.log(p)
        error = abs(mpmath.mpf(sums["value"]) - exact)
    assert error <= 64 * ULP * sums["magnitude"]


def test_the_gram_matrix_of_the_moments_sums_to_the_total_weight():
    columns, w, centers, offsets, pi = problem(np.random.default_rng(5), 400, 3, 4)
    gram = passes.sums(columns, w, centers, offsets, pi)["gram"]
    gram = np.triu(gram) + np.triu(gram, 1).T
    among = gram[np.ix_(range(0, 16, 4), range(0, 16, 4))]
    assert among.sum() == pytest.approx(w.sum(), rel=1e-13)
    assert np.linalg.eigvalsh(gram).min() >= -1e-10 * np.trace(gram)


@pytest.mark.parametrize("n", [0, 1, 7, 9])
def test_lengths_off_the_padding_are_refused(n):
    with pytest.raises(ValueError, match="multiple of 8"):
        passes.sums(np.zeros((1, n)), np.ones(n), np.zeros((1, 1)), np.zeros(1), np.ones(1))


def worst_error(function, exact, arguments):
    """Largest relative error in units of 2^-53."""
    with mpmath.workdps(40):
        errors = [
            abs(mpmath.mpf(float(y)) / exact(mpmath.mpf(float(x))) - 1)
            for x, y in zip(arguments, function(arguments), strict=True)
        ]
        return float(max(errors)) / ULP


def near(values):
    values = np.asarray(values, dtype=float)
    return np.concatenate([values, np.nextafter(values, np.inf), np.nextafter(values, -np.inf)])


def test_the_exponential_keeps_its_stated_error():
    rng = np.random.default_rng(0)
    halves = (np.arange(-1021, 1) + 0.5) * np.log(2.0)  # where the reduction changes its integer
    arguments = np.concatenate([
        rng.uniform(-708.0, 0.0, 4000), rng.uniform(-2.0, 0.0, 2000), -(10.0 ** rng.uniform(-320, 2.8, 2000)),
        near(halves[halves > -707.9]), [-708.0, -0.0, 0.0, -5e-324, -1e-310, -np.finfo(float).tiny],
    ])  # fmt: skip
    assert worst_error(passes.exp, mpmath.exp, np.minimum(arguments, 0.0)) <= passes.EXP_ULPS


def test_the_exponential_keeps_its_stated_error_up_to_its_largest_argument():
    arguments = np.concatenate([np.random.default_rng(1).uniform(0.0, 700.0, 3000), [700.0, 1e-300, 5e-324]])
    assert worst_error(passes.exp, mpmath.exp, arguments) <= passes.EXP_ULPS


def test_the_exponential_of_0_is_exact():
    assert (passes.exp(np.array([0.0, -0.0, 5e-324, -5e-324])) == 1.0).all()


@pytest.mark.parametrize("x", [-708.5, -745.0, -746.0, -1e4, -1e300, -np.inf])
def test_the_exponential_stops_at_its_least_value_and_stays_positive(x):
    [least, value] = passes.exp(np.array([-708.0, x]))
    assert value == least > 0.0


def test_the_logarithm_keeps_its_stated_error():
    rng = np.random.default_rng(2)
    powers = 2.0 ** np.arange(-1021, 1023, 3)
    arguments = np.concatenate([
        10.0 ** rng.uniform(-307, 307, 3000), rng.uniform(0.5, 2.0, 3000),
        1.0 + rng.uniform(-1e-9, 1e-9, 500),
        near(powers), near(powers * np.sqrt(0.5)), near([1.0]),
        [2.0**-1021, 2.0**1023, np.finfo(float).max / 2],
    ])  # fmt: skip
    arguments = arguments[(arguments != 1.0) & (arguments >= 2.0**-1021)]
    assert worst_error(passes.log, mpmath.log, arguments) <= passes.LOG_ULPS


def test_the_logarithm_of_1_is_0():
    assert passes.log(np.ones(3)).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("n", [1, 7, 8, 9, 129])
def test_the_primitives_take_arrays_of_any_length(n):
    x = -np.arange(n, dtype=float)
    np.testing.assert_allclose(passes.exp(x), np.exp(x), rtol=1e-15, atol=1e-307)
    np.testing.assert_allclose(passes.log(1.0 - x), np.log(1.0 - x), rtol=1e-15, atol=1e-300)


def test_the_instruction_set_has_a_name(instruction_set):
    assert passes.instruction_set() == instruction_set
    assert passes.instruction_set() in passes.instruction_sets()
    with pytest.raises(ValueError, match="does not have"):
        passes.use_instruction_set("avx1024")


def test_the_dispatcher_compiles_for_processors_without_these_instructions(tmp_path):
    # gcc and clang define __x86_64__: without it every name must still be there, or the module could not be loaded.
    source = Path(__file__).resolve().parents[2] / "src/gopfast/mixtures/csrc/pass.c"
    compiler = os.environ.get("CC", "cc").split()
    if not source.exists() or shutil.which(compiler[0]) is None:
        pytest.skip("no sources or no C compiler")
    flags = ["-std=gnu11", "-Werror=implicit-function-declaration", "-U__x86_64__"]
    command = [*compiler, *flags, "-c", str(source), "-o", str(tmp_path / "pass.o")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("weight", [1e-270, 1e-99, 0.25])
@pytest.mark.parametrize("away", [300.0, 650.0, 5_000.0])
def test_components_far_from_a_sample_count_for_nothing_however_little_weight_the_near_one_has(weight, away):
    """Exponentials below that of -600 are raised to it, but not where that would tell."""
    columns, weights = np.zeros((1, 8)), np.eye(1, 8)[0]
    centers = np.array([[0.0], [math.sqrt(2.0 * away)]])
    found = passes.sums(columns, weights, centers, np.zeros(2), np.array([weight, 1.0 - weight]), level=0)
    exact = -math.log(weight) - math.log1p((1.0 - weight) / weight * math.exp(-away))
    assert found["value"] == pytest.approx(exact, rel=1e-14)
