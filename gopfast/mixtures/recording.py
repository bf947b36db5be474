"""Writes a proof while its search runs: what closed nodes leave behind goes to the file at once.

Of the nodes nothing is kept, so that a search for a proof takes memory for what is open. The cells of one component are
kept, as they are forgotten whenever prices change.

Theory: (V1) of docs/theory/proofs.md.
"""

import io
import math
import os
import tempfile

import numpy as np

from gopfast.checker import ProofError, blocks, file, tree
from gopfast.checker.prices import Prices
from gopfast.checker.problem import Problem
from gopfast.errors import InputError
from gopfast.mixtures.block_record import BlockRecords
from gopfast.mixtures.cell_record import Cells
from gopfast.mixtures.leaf_weights import best_weights
from gopfast.mixtures.margins import ROUNDING
from gopfast.mixtures.pricing.hull import has_hull
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.mixtures.statement import statement_of
from gopfast.mixtures.tuning import LEAST_LOG_WEIGHT, MOST_GAINED, RECORDING_RESERVE as RESERVE


class Recorder:
    """
    What a search tells of its nodes, made into a proof.

    Parameters
    ----------
    problem : MixtureProblem
    family : Family
        ``family.provable()`` of the problem's.
    target : str or True
        File; True: it is kept in memory.
    tolerance : float
        Of the search, in nats.

    Attributes
    ----------
    relaxation : EntropicRelaxation
        With ``provable=True``; to be set before the search begins.
    cells : Cells
        For the pricing of single components.
    blocks : BlockRecords
        For that of blocks of columns, and of all by groups of samples.

    Raises
    ------
    InputError
        If proofs have no entry for the problem's family.
    """

    def __init__(self, problem, family, target, tolerance):
        record, X = problem._record_of_proof(), problem._data_of_proof()
        if family is None or record is None:
            raise InputError(f"proof must be None: proofs have no entry yet for {problem!r}")
        self.problem, self.family, self.target, self.relaxation = problem, family, target, None
        try:
            stated = Problem(record, X, problem._weights_of_proof())
            self.statement = statement_of(family, family.one_component(problem), stated)
        except ProofError as error:
            raise InputError(f"proof must be None: the checker does not take the problem; {error}") from None
        self.allowed = 0.5 * RESERVE * tolerance
        if self.statement.lost_by_units() > self.allowed or has_hull(family):  # nodes end by what the hull proves, too
            self.statement.is_iterated = True
        self.cells, self.blocks = Cells(self.statement, tolerance), BlockRecords(self.statement)
        self.stream, self.writer, self.short, self.least = None, None, [], math.inf

    # What the search tells: see `gopfast.search.ledger`

    def begin(self):
        """Forget all: the tree begins."""
        if self.writer is not None:
            self.writer.abandon()
        if self.stream is None:
            self.stream = io.BytesIO()
            if self.target is not True:
                folder, name = os.path.split(os.path.abspath(self.target))
                self.stream = tempfile.NamedTemporaryFile(dir=folder, prefix=f".{name}.", delete=False)
        self.stream.seek(0)
        self.stream.truncate()
        self.writer, self.short = file.Writer(self.stream, "mixture"), []
        self.kept, self.least = {name: [] for name in self._nothing()}, math.inf

    def splits(self, splits, points):
        """Nodes that were split."""
        inner = splits[:, 2] >= 0
        splits[:, 1], points = self.statement.split(splits[:, 1], points, inner)
        self._write(splits=splits, points=points)

    def _write(self, **parts):
        for name, part in parts.items():
            if not (self.statement.is_iterated and name == "log_weights"):  # which may be others in the end
                self.writer.add(name, part)
            if self.statement.is_iterated:
                self.kept[name].append(part)

    def leaves(self, labels, lower, low, high, warm):
        """Take leaves: slopes and weights of those that have something in them for the checker too."""
        statement = self.statement
        low, high, empty = statement.ordered(statement.boxes(low), statement.boxes(high))
        if statement.is_iterated:  # the checker may find something in them
            low, high, empty = np.minimum(low, high), np.maximum(low, high), np.zeros(len(low), bool)
        self.add(*(part[~empty] for part in (labels, lower, low, high, warm)))

    def add(self, labels, lower, low, high, warm):
        """Write slopes and weights of leaves, of boxes (L, K, p) in the user's units, and see what they prove."""
        statement = self.statement
        logs, constants, linear, quadratic, more = self.relaxation.explain(warm)
        slopes, constants = statement.slopes(constants, linear, quadratic, more)
        slopes = statement.unfolded(low, high, slopes)
        # The checker's constants are higher than the core's; by these weights its responsibilities are the same.
        intercepts, total = statement.constants(low, high, slopes)
        gained = total - constants
        # A component that costs far more than the others everywhere need not weigh all the more.
        logs = np.minimum(logs + gained, logs.max(axis=1, keepdims=True) + MOST_GAINED)
        logs = np.clip(np.nan_to_num(logs - logs.max(axis=1, keepdims=True)), LEAST_LOG_WEIGHT, 0.0)
        logs -= total
        self._write(leaves=labels, slopes=slopes, log_weights=logs)
        if statement.is_iterated:
            return
        told = lower[np.isfinite(lower)]  # of others the checker is asked
        self.least = min(self.least, (told - self._allowed(told)).min(initial=math.inf))
        sure = np.isfinite(lower) & statement.is_plain
        if statement.is_plain:
            # Then what the core has proved holds by the checker's arithmetic, less its own rounding.
            lost = statement.loss(slopes, logs, intercepts)
            lost -= np.minimum(gained, 0.0).min(axis=1) * self.problem.total_weight
            sure &= lost <= self._allowed(lower)
        own = np.flatnonzero(~sure)
        if not len(own):
            return
        found = statement.bounds.of(low[own], high[own], slopes[own], logs[own], statement.reference)
        for i, value in zip(own, found, strict=True):
            if not (np.isfinite(lower[i]) and value >= lower[i] - self._allowed(lower[i])):
                self.short.append((value, low[i], high[i], slopes[i], logs[i], tree.NONE))

    def _allowed(self, value):
        """By how much the checker's bound may be below the core's."""
        return np.maximum(self.allowed, ROUNDING * (1 + np.abs(value) + self.problem.total_weight))

    # The end

    def finish(self, wanted, solution, pricing):
        """
        Write the proof of what a search has reached.

        Parameters
        ----------
        wanted : float
            The search's lower bound.
        solution : MixtureSolution
        pricing : None or PricingBound
            Whose cells have cut nodes.

        Returns
        -------
        (float, str or bytes) or None
            The lower bound that it claims, by the checker's own arithmetic, and the proof. None where that arithmetic
            is not accurate enough to say anything.
        """
        statement = self.statement
        try:
            upper = statement.bounds.attained(statement.solution(self.family, solution))
        except ProofError:
            return self.discard()
        upper += ROUNDING * (1 + abs(upper) + self.problem.total_weight)
        allowed = self._allowed(wanted) if math.isfinite(wanted) else 0.0
        lower = min(wanted - allowed, upper) if math.isfinite(wanted) else math.inf
        floor, of_all = self._floor()
        floor = min(floor, upper)
        if floor >= lower - allowed:  # the tree has nothing to say then
            arrays, lower = self.cells.arrays(None) | of_all, min(lower, floor)
        else:
            arrays = self.cells.arrays(pricing)
            if statement.is_iterated:
                self._see_all(lower)
            of_leaves = self._bound_of_short(lower, arrays)
            if not statement.is_iterated and (math.isfinite(floor) or not arrays["prices"].size):
                # leaves may be lower than what blocks prove of all mixtures, or prices
                of_leaves = min(of_leaves, max(self.least, self._floor_of_prices(lower, arrays)))
            arrays |= of_all if floor > of_leaves else self.blocks.nothing() | self.blocks.hull.nothing()
            lower = max(of_leaves, floor)
        if not (math.isfinite(lower) and math.isfinite(upper)):
            return self.discard()
        for name, array in (self._nothing() | arrays).items():
            self.writer.add(name, array)
        for part in self.kept["log_weights"]:
            self.writer.add("log_weights", part)
        claim = {"lower_bound": lower, "objective": upper, "solution": statement.solution(self.family, solution)}
        self.writer.finish({**statement.header(), "claim": claim})
        return lower, self._close_stream()

    def _floor(self):
        """Return what blocks or a hull prove, less what the checker's rounding may be elsewhere, and their arrays."""
        of_blocks, (of_hull, floor) = self.blocks.arrays(), self.blocks.hull.shown
        of_all = self.blocks.nothing() | of_hull
        found, _ = blocks.bound(self.statement.bounds, of_blocks, self.statement.reference)
        if found >= floor:
            floor, of_all = found, of_blocks | self.blocks.hull.nothing()
        lost = ROUNDING * (1 + abs(floor) + self.problem.total_weight) if math.isfinite(floor) else 0.0
        return floor - lost, of_all

    def _see_all(self, lower):
        """Find leaves that are short of a bound, by the boxes that the checker will find: the core's may be smaller."""
        statement, nothing = self.statement, self._nothing()
        parts = {name: np.concatenate([nothing[name], *own]) for name, own in self.kept.items()}
        self.kept["log_weights"] = [parts["log_weights"]]
        labels, low, high, empty = statement.leaves(parts["splits"].astype(int), parts["points"])
        low, high, entry = low[~empty], high[~empty], tree.entries(parts["leaves"], labels[~empty], "leaf")
        # those that prices close have none: the last row, of no numbers, stands for it
        slopes, logs = (np.concatenate([parts[name], np.full((1, *nothing[name].shape[1:]), fill)])[entry]
                        for name, fill in (("slopes", 0.0), ("log_weights", math.nan)))  # fmt: skip
        found = statement.bounds.of(low, high, slopes, logs, statement.reference)
        found = np.where(entry == tree.NONE, -math.inf, found)
        short = np.flatnonzero(~(found >= lower))
        self.short = [(found[i], low[i], high[i], slopes[i], logs[i], entry[i]) for i in short]

    def _floor_of_prices(self, lower, arrays):
        """Return what the prices say of all mixtures, where leaves are lower than a bound; -inf without any."""
        if not (arrays["prices"].size and self.least < lower < math.inf):
            return -math.inf
        return self._priced(lower, arrays).floor(self.statement.problem.n_components)

    def _priced(self, lower, arrays):
        """Return the prices as the checker has them."""
        statement = self.statement
        return Prices(statement.bounds, arrays, statement.reference, statement.header()["order"], lower)

    def _bound_of_short(self, lower, arrays):
        """Return what can be claimed, at most `lower`, with leaves whose own bounds are below that of the core."""
        if not self.short:
            return lower if math.isfinite(lower) else -math.inf
        statement = self.statement
        values, low, high, slopes, logs, entry = (np.array(part) for part in zip(*self.short, strict=True))
        own, floor = np.flatnonzero(values < lower), -math.inf
        if len(own) and arrays["prices"].size and math.isfinite(lower):
            priced = self._priced(lower, arrays)
            low[own], high[own], closed = priced.cut(low[own], high[own])
            again = statement.bounds.of(low[own], high[own], slopes[own], logs[own], statement.reference)
            values[own] = np.where(closed, np.inf, np.fmax(values[own], again))
            # where rounding keeps the prices from closing leaves they do so a little lower
            floor = priced.floor(statement.problem.n_components)
        own = np.flatnonzero((values < lower) & (entry != tree.NONE))
        if len(own):
            values[own] = self._reweighed(entry[own], values[own], low[own], high[own], slopes[own], logs[own])
        least = max(values.min(), floor)
        return lower if least >= lower else least - ROUNDING * (1 + abs(least) + self.problem.total_weight)

    def _reweighed(self, entry, values, low, high, slopes, logs):
        """Return the bounds of leaves (L,) by better weights for the checker's boxes, which their entries then have."""
        statement = self.statement
        found = best_weights(statement.bounds, low, high, slopes, logs, statement.reference)
        again = statement.bounds.of(low, high, slopes, found, statement.reference)
        better = again > values
        self.kept["log_weights"][0][entry[better]] = found[better]
        return np.where(better, again, values)

    def _nothing(self):
        """Return the arrays without entries."""
        K, n_slopes = self.problem.n_components, self.statement.bounds.n_slopes
        return {
            "splits": np.zeros((0, 4)), "points": np.zeros(0), "leaves": np.zeros(0, int),
            "slopes": np.zeros((0, K, n_slopes)), "log_weights": np.zeros((0, self.problem.n_weights)),
        }  # fmt: skip

    def _close_stream(self):
        """End the stream: the file's name, or what would be in it."""
        stream, self.stream, self.writer = self.stream, None, None
        if self.target is True:
            return stream.getvalue()
        stream.close()
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(stream.name, 0o666 & ~umask)
        os.replace(stream.name, self.target)
        return self.target

    def discard(self):
        """Forget the proof, and what was written of it."""
        stream, writer, self.stream, self.writer = self.stream, self.writer, None, None
        if stream is None:
            return
        writer.abandon()
        stream.close()
        if self.target is not True:
            os.unlink(stream.name)


def of_one_component(problem, family, solution, lower, target, tolerance):
    """
    Prove the optimum of one component, whose statistics are all samples': by costs that touch its own.

    Parameters
    ----------
    problem : MixtureProblem
    family : Family
        ``family.provable()`` of the problem's.
    solution : MixtureSolution
    lower : float
        The closed form's lower bound.
    target, tolerance
        As of `Recorder`.

    Returns
    -------
    (float, str or bytes) or None
        As `Recorder.finish`; None also where what is proved lacks more than the tolerance: it takes a search.
    """
    recorder = Recorder(problem, family, target, tolerance)
    recorder.relaxation = EntropicRelaxation(family, provable=True)
    point = family.pack(**{name: value for name, value in solution.parameters.items() if value is not None})
    rules = recorder.statement.bounds.rules
    low, high = (side[np.newaxis, np.newaxis] for side in (rules.low, rules.high))
    warm = recorder.relaxation.touching(point)[np.newaxis]
    recorder.begin()
    try:
        recorder.add(np.zeros(1, int), np.full(1, math.nan), low, high, warm)
        if recorder.statement.is_iterated:
            recorder._see_all(math.inf)
        if not recorder.short or recorder.short[0][0] >= lower - tolerance:
            return recorder.finish(lower, solution, None)
    except BaseException:
        recorder.discard()
        raise
    return recorder.discard()
