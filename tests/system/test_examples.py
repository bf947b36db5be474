"""Every example of the gallery runs, with small sizes, and draws a figure."""

import re
import warnings
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("pandas")
pytest.importorskip("sklearn")

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
# NAME = 100  # in the tests: 3
SIZE = re.compile(r"^(\w+) = .*?  # in the tests: (\S+)$", re.MULTILINE)
# Pillow, which scikit-learn reads its pictures with.
NEEDS = {"plot_segmentation": "PIL"}


@pytest.mark.skipif(not EXAMPLES.is_dir(), reason="no source tree beside the tests")
@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("plot_*.py")))
def test_an_example_runs_and_draws(name):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    pytest.importorskip(NEEDS.get(name, "matplotlib"))
    text = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
    assert text.startswith('"""\n') and "\n# %%\n" in text
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(SIZE.sub(r"\1 = \2", text), f"{name}.py", "exec"), {"__name__": "__main__"})
    figures = [pyplot.figure(number) for number in pyplot.get_fignums()]
    assert figures and all(figure.axes for figure in figures)
    pyplot.close("all")


def test_the_gallery_has_what_it_promises():
    names = {path.stem.removeprefix("plot_") for path in EXAMPLES.glob("plot_*.py")}
    if not names:
        pytest.skip("no source tree beside the tests")
    assert names >= {
        "paper", "galaxies", "faithful", "iris", "carcinoma", "francs", "kmeans", "pooling", "factorisation",
        "certify", "segmentation", "customers", "outliers", "seizures", "tones", "co2", "phases", "reactors",
    }  # fmt: skip
