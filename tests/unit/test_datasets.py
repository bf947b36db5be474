"""The data that come with the package: all of them, as published."""

import numpy as np
import pytest

import gopfast
from gopfast import datasets

SHAPES = {
    "acidity": (155, 1), "betablocker": (44, 4), "candy": (21, 2), "co2data": (28, 2), "enzyme": (245, 1),
    "fabricfault": (32, 2), "faithful": (272, 2), "galaxies": (82, 1), "minimal": (4, 1), "npreg": (200, 4),
    "patent": (70, 3), "seizure": (140, 4), "tonedata": (150, 2), "tribolium": (27, 4),
}  # fmt: skip


def test_every_data_set_is_read_with_its_shape():
    assert datasets.names() == sorted(SHAPES)
    assert {name: datasets.load(name).shape for name in SHAPES} == SHAPES


def test_values_are_those_of_the_source():
    assert datasets.load("minimal").ravel().tolist() == [-10.0, -10.0, 5.0, 25.0]
    galaxies = datasets.load("galaxies").ravel()
    # the 78th as published, not the widespread 26960; the extremes in km/s
    assert (galaxies[77], galaxies.min(), galaxies.max()) == (26690.0, 9172.0, 34279.0)
    assert np.isfinite(datasets.load("faithful")).all()


def test_every_table_of_labels_is_read_with_its_shape():
    shapes = {"carcinoma": (118, 7), "cheating": (319, 4), "gss82": (1202, 4), "values": (216, 4)}
    assert datasets.label_names() == sorted(shapes)
    for name, shape in shapes.items():
        table, columns = datasets.load_labels(name)
        assert table.shape == shape and len(columns) == shape[1]
    table, columns = datasets.load_labels("gss82")
    assert columns == ["PURPOSE", "ACCURACY", "UNDERSTA", "COOPERAT"]
    assert table[0].tolist() == ["Good", "Mostly true", "Good", "Interested"]


def test_the_documented_names_are_the_names():
    for name in [*datasets.names(), *datasets.label_names()]:
        assert f"``{name}``" in datasets.__doc__


def test_every_problem_is_read():
    assert len(datasets.problem_names()) == 25
    for name in datasets.problem_names():
        assert isinstance(datasets.load_problem(name), gopfast.BiconvexProblem)


@pytest.mark.parametrize("load", [datasets.load, datasets.load_labels, datasets.load_problem])
@pytest.mark.parametrize("name", ["nothing", "../galaxies", "", None])
def test_an_unknown_name_is_refused_with_the_known_ones(load, name):
    with pytest.raises(gopfast.InputError, match="name must be one of .*(galaxies|carcinoma|haverly).*; got"):
        load(name)


def test_every_data_set_has_a_function_and_a_source():
    loaders = [name for name in datasets.__all__ if name.startswith("load_")]
    loaders = [name for name in loaders if name not in ("load_labels", "load_problem")]
    assert sorted(name.removeprefix("load_") for name in loaders) == sorted(datasets.names() + datasets.label_names())
    for name in loaders:
        function = getattr(datasets, name)
        table = function()
        stem = name.removeprefix("load_")
        expected = datasets.load(stem) if stem in datasets.names() else datasets.load_labels(stem)[0]
        np.testing.assert_array_equal(table, expected)
        assert "References" in function.__doc__ and name in datasets.__all__


def test_data_sets_are_frames_where_asked_for():
    pytest.importorskip("pandas")
    frame = datasets.load_faithful(as_frame=True)
    assert list(frame.columns) == ["eruption_min", "waiting_min"] and len(frame) == 272
    assert list(datasets.load_carcinoma(as_frame=True).columns) == list("ABCDEFG")
