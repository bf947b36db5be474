"""Which cells all samples are asked about."""

import numpy as np

from gopfast.mixtures.pricing import hull_drafts
from gopfast.mixtures.pricing.hull_drafts import Drafted


class Told:
    """In place of cells of samples: bounds that are known, and which cells were asked about."""

    n_terms = 0

    def __init__(self, bounds):
        self.bounds, self.asked = np.array(bounds), []

    def bound(self, low, high, log_precision, log_scale, enough, tables=None, raised=None):
        """Return the bounds of cells, which are their own numbers, and scales."""
        cells = low[:, 0].astype(int)
        self.asked += cells.tolist()
        return self.bounds[cells], log_scale


def asked(known):
    """Return what is said of five cells, and which of them all samples are asked about, where 1 is enough."""
    draft, every = Told([0.9, 1.5, 1.5, 3.0, 3.0]), Told([0.95, 1.6, 1.7, 3.1, 3.2])
    cells, none = np.arange(5.0)[:, None], np.zeros(5)
    values, _ = Drafted(every, draft).bound(cells, cells, none, none, 1.0, known=known)
    return values, every.asked


def test_cells_that_will_not_do_are_asked_about_where_much_less_than_is_known_is_hoped_for():
    known = np.array([2.0, 2.0, 1.5 / hull_drafts.GAIN - 1e-9, np.inf, 3.0])
    values, cells = asked(known)
    assert cells == [0, 1, 3]
    assert np.array_equal(values, [0.95, 1.6, np.inf, 3.1, np.inf])


def test_cells_of_which_nothing_is_told_are_asked_about_where_they_will_do():
    values, cells = asked(None)
    assert cells == [0]
    assert values[0] == 0.95 and np.isinf(values[1:]).all()
