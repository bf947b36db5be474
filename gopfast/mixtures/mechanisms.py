"""
The mechanisms that are at work in the search of a mixture: `MECHANISMS` is the list, in the order in which they act.

Each is a class that says what it does, when it applies, and how it is made. To add one: a class here, of the kind that
says when it is asked (`Floor`, `Box`, `Learning`), and its place in the list; `gopfast.mixtures.plan` asks those of a
kind that apply. What is part of another (`inside`) is asked by that one, in its `make`. The rest follows from the list:
its switch, its row in `result.profile` and in the ablation, and its part in the tests that switch off one by one.
"""

from functools import partial
from types import SimpleNamespace

from gopfast.errors import InputError
from gopfast.mixtures.chains import ChainsBound
from gopfast.mixtures.closed_form import ceiling, single
from gopfast.mixtures.families.gaussian import GaussianFamily
from gopfast.mixtures.hull_record import ShownHull
from gopfast.mixtures.incumbent.basin import MixtureBasin
from gopfast.mixtures.incumbent.neighbourhood import Neighbourhood
from gopfast.mixtures.marginal import MarginalBound
from gopfast.mixtures.mixing.hitting import HittingSets as HittingReduction
from gopfast.mixtures.pricing.blocks import BlocksBound, is_divided
from gopfast.mixtures.pricing.confinement import Confinement as ConfinementQuestions
from gopfast.mixtures.pricing.cover import CoverBound, is_covered
from gopfast.mixtures.pricing.grouped import GroupedBound, is_grouped
from gopfast.mixtures.pricing.hull import HullBound, has_few, has_hull
from gopfast.mixtures.pricing.pricing_cuts import PricingReduction
from gopfast.mixtures.pricing.pricing_levels import LevelledBound, levels_of
from gopfast.mixtures.pricing.pricing_root import PricingBound
from gopfast.mixtures.pricing.raised import RaisedBound, has_raised_prices
from gopfast.mixtures.primal.em import MixturePrimal
from gopfast.mixtures.relaxations.corners import CornerRelaxation, has_corners
from gopfast.mixtures.relaxations.crossed import CrossedRelaxation, is_crossed, is_spanned
from gopfast.mixtures.relaxations.entropic import EntropicRelaxation
from gopfast.mixtures.shared.factors import FactorBound
from gopfast.mixtures.shared.gathered import are_gathered
from gopfast.mixtures.shared.gathered_known import GatheredBound, is_gathered
from gopfast.mixtures.shared.labels import LabelBound, has_labels
from gopfast.mixtures.shared.noise import is_noisy
from gopfast.mixtures.shared.rough_search import PriceMaker
from gopfast.mixtures.shared.shared import SharedBound
from gopfast.mixtures.shared.shared_cuts import SharedReduction
from gopfast.mixtures.shared.simplices import SimplexBound
from gopfast.mixtures.shared.slices import is_factored, rank_between
from gopfast.mixtures.shares.shares import ShareBound, has_shares
from gopfast.mixtures.tuning import (
    ASKED_FROM,
    BEFORE_COVER,
    BEFORE_HULL,
    CLOSED_BY_TREE,
    CLOSED_PATIENCE,
    CORNERS_COST,
    HULL_ALONE,
    MOST_AT_ONCE,
    MOST_BEFORE_CLOSED,
    MOST_BEFORE_PRICES,
    MOST_CHAINED,
    MOST_POINTS,
    MOST_PRICED,
    MOST_PRICED_ROUGHLY,
    NODES_OF_A_BATCH,
    PATIENCE,
    REDUCED_FROM,
    TERMS_OF_A_NODE,
    TERMS_OF_A_PRICE,
)
from gopfast.search.mechanism import Mechanism

# Before the search


class ClosedForm(Mechanism):
    """One component, whose one M step is all of EM."""

    name, theory = "closed_form", "(F11)"
    what = "solves a mixture of one component whose best fit has a closed form"
    hands_over, back_off = ("floor", "incumbents"), "once"
    in_proofs = True

    @staticmethod
    def applies(plan):
        """Of one component, where no method is named: who names one wants it run."""
        return plan.problem.n_components == 1 and plan.options.relaxation is None and plan.options.branching is None

    @staticmethod
    def make(plan):
        """Return the optimum; None where there is no closed form."""
        with plan.meter(ClosedForm):
            return single.optimum(plan.problem)


class Floor(Mechanism):
    """A mechanism that knows a lower bound before the search."""

    @staticmethod
    def make(plan):
        """Return a lower bound, in nats."""
        raise NotImplementedError


class SaturatedBound(Floor):
    """What no model of discrete data exceeds."""

    name, theory = "saturated_bound", "(F9)"
    what = "bounds the objective of discrete data by the entropy of the rows, before the search"
    hands_over, back_off = ("floor",), "once"

    @staticmethod
    def applies(plan):
        """Of discrete data that are no summary."""
        return plan.family.discrete and not plan.is_summary

    @staticmethod
    def make(plan):
        """Return a lower bound, in nats."""
        with plan.meter(SaturatedBound):
            return ceiling.saturated_bound(plan.problem, plan.family)


# Upper bounds


class LocalSearch(Mechanism):
    """EM."""

    name, theory = "local_search", "(A5)"
    what = "runs EM from starts, from relaxed solutions of nodes, and from what other mechanisms find"
    hands_over, optional = ("incumbents",), False
    back_off = "from promising nodes after 1, 2, 4 ... batches while it is in vain"
    in_proofs = True

    @staticmethod
    def applies(plan):
        """Return True."""
        return True


class Moves(Mechanism):
    """Split-and-merge EM."""

    name, theory = "moves", "(S8)"
    what = "goes on from the first incumbent with splits, mergers, restarts and crossovers of local optima"
    hands_over, inside = ("incumbents",), LocalSearch
    back_off = "after a number of passes for each component"
    in_proofs = True

    @staticmethod
    def applies(plan):
        """Of two components and more; the primal itself leaves them out where parameters are few."""
        return plan.family.n_components > 1


class Perturbation(Mechanism):
    """Iterated local search."""

    name, theory = "perturbation", "(S8)"
    what = "now and then restarts EM from the incumbent after a split and a merger at random"
    hands_over, inside = ("incumbents",), LocalSearch
    back_off = "4 % of the tree's passes"
    in_proofs = True

    @staticmethod
    def applies(plan):
        """Of two components and more."""
        return plan.family.n_components > 1


# Bounds of nodes


class RelaxedDual(Mechanism):
    """The tree itself."""

    name, theory = "relaxed_dual", "(E3)"
    what = "bounds nodes by the relaxed dual, and chooses where to split them"
    hands_over, optional, back_off = ("bounds of nodes", "closed nodes"), False, "never"
    in_proofs = True

    @staticmethod
    def applies(plan):
        """Return True."""
        return True

    @staticmethod
    def make(plan):
        """Return the relaxation that the options ask for, with what strengthens it; it counts the work of each."""
        kind = Crossed if plan.has(Crossed) else Corners if plan.has(Corners) else None
        if plan.relaxation == "linear":
            relaxed = _linear_dual(plan)
        else:
            limits = {} if plan.has(DividedCells) else {"n_split": 0}
            if not plan.has(DividedAgain):
                limits["n_again"] = 0
            relaxed = (EntropicRelaxation if kind is None else kind.relaxation)(
                plan.family, provable=plan.provable, summaries=plan.has(Summaries), **limits
            )
        stages = [
            Crossed if kind is Crossed else RelaxedDual,
            kind if kind is Corners else DividedCells if plan.has(DividedCells) else RelaxedDual,
            DividedAgain if plan.has(DividedAgain) else RelaxedDual,
            Summaries if plan.has(Summaries) else RelaxedDual,
        ]
        relaxed.meters = tuple(plan.meter(stage) for stage in stages)
        return relaxed


class Summaries(Mechanism):
    """Grids in place of the samples."""

    name, theory = "summaries", "(I1)"
    what = "bounds nodes on summaries of many samples as long as these are fine enough"
    hands_over, inside = ("bounds of nodes",), RelaxedDual
    back_off = "a finer one, and the samples, once what a bound lacks is not far above the summary's loss"

    @staticmethod
    def applies(plan):
        """Where the data have summaries; the paper's relaxed dual has none."""
        return plan.relaxation != "linear" and bool(plan.family.data.levels)


class DividedCells(Mechanism):
    """Parts of a node's cells."""

    name, theory = "divided_cells", "(D1)"
    what = "raises a node's bound by mixtures of parts of its components' cells"
    hands_over, inside = ("bounds of nodes", "closed nodes"), RelaxedDual
    back_off = "where a node lacks more than a share of what its minorants lose"

    @staticmethod
    def applies(plan):
        """Where minorants and facets are of one component each."""
        return plan.relaxation != "linear" and plan.family.divisible_cells


class DividedAgain(Mechanism):
    """Parts of parts."""

    name, theory = "divided_again", "(D4)"
    what = "divides those parts again that lose most"
    hands_over, inside = ("bounds of nodes", "closed nodes"), RelaxedDual
    back_off = "after three times, or where the last one has gained too little"

    @staticmethod
    def applies(plan):
        """Where cells are divided."""
        return plan.has(DividedCells)


class Crossed(Mechanism):
    """Classes crossed with the levels of a variable."""

    name, theory = "crossed", "(L1)"
    what = "bounds latent classes crossed with the levels of one variable, whose probabilities are then free"
    hands_over, inside = ("bounds of nodes", "closed nodes"), RelaxedDual
    back_off = "never: it takes the relaxed dual's place"
    relaxation = CrossedRelaxation

    @staticmethod
    def applies(plan):
        """Of labels with a variable to spare, by bisection; where corners apply as well only of two variables."""
        if plan.relaxation == "linear" or not plan.is_bisected or not is_crossed(plan.family):
            return False
        return is_spanned(plan.family) or not plan.has(Corners)


class Corners(Mechanism):
    """Mixtures of corners."""

    name, theory = "corners", "(L3)"
    what = "bounds nodes of a table of few cells by the best mixture of the corners of its classes' boxes"
    hands_over, inside = ("bounds of nodes", "closed nodes"), RelaxedDual
    back_off = "a node that the relaxed dual closes"
    relaxation = CornerRelaxation

    @staticmethod
    def applies(plan):
        """Of zeros, ones and labels without a prior, by bisection; not where tables of two variables are crossed."""
        if plan.relaxation == "linear" or not plan.is_bisected or not has_corners(plan.family):
            return False
        crosses = Crossed.name not in plan.without and is_crossed(plan.family)
        return not (crosses and is_spanned(plan.family))


# The box around the incumbent


class Box(Mechanism):
    """A mechanism that finds a box around the incumbent on which nothing is lower; the first that applies is taken."""

    @staticmethod
    def make(plan):
        """Return the Basin."""
        raise NotImplementedError


class HessianBox(Box):
    """A convexity test."""

    name, theory = "hessian_box", "(B3)"
    what = "finds a box around the incumbent on which bounds of the Hessian prove that nothing is lower"
    hands_over, back_off = ("closed nodes", "cuts"), "from 64 nodes on, once for an incumbent"

    @staticmethod
    def applies(plan):
        """Of known variance and point posteriors."""
        return _takes_boxes(plan) and has_hessian_box(plan.family)

    @staticmethod
    def make(plan):
        """Return the Basin."""
        found = MixtureBasin(plan.family, plan.primal)
        found.meter = plan.meter(HessianBox)
        return found


# What is learnt beside the tree


class Learning(Mechanism):
    """A mechanism that learns beside the tree, in steps of a `Learner`."""

    reduction = SharedReduction  # what takes the steps, and tells the tree

    @staticmethod
    def learner(plan, solution, limit):
        """Return the Learner, once it begins."""
        raise NotImplementedError

    @classmethod
    def kind(cls, plan):
        """Return the mechanism that its work counts for."""
        return cls

    @classmethod
    def make(cls, plan):
        """Return the Reduction."""
        found = cls.reduction(plan.family, partial(cls.learner, plan))
        found.meter = found.cutter = plan.meter(cls.kind(plan))
        return found

    @staticmethod
    def begin(plan):
        """Return the nodes from which on it is at work."""
        return ASKED_FROM


class HittingSets(Mechanism):
    """The nonparametric bound."""

    name, theory = "hitting_sets", "(H4)"
    what = "proves sets that a mean of every good mixture lies in, by the mixture of any number of components"
    hands_over, back_off = ("cuts", "floor", "closed nodes"), "from 256 nodes on, 8 passes for each of the tree"

    @staticmethod
    def applies(plan):
        """Of one column, known variance and point posteriors."""
        if plan.is_summary or plan.relaxation not in (None, "entropic"):
            return False
        return isinstance(plan.family, GaussianFamily) and HittingReduction.applies(plan.family)

    @staticmethod
    def make(plan):
        """Return the Reduction."""
        found = HittingReduction(plan.family)
        found.meter = found.cutter = plan.meter(HittingSets)
        return found

    @staticmethod
    def begin(plan):
        """Return the nodes from which on it is at work."""
        return REDUCED_FROM


class Pricing(Learning):
    """Dantzig-Wolfe decomposition: prices of the samples, and one component at a time."""

    name, theory = "pricing", "(P1)"
    what = "bounds what a component can save at prices of the samples, over cells of one component"
    hands_over = ("floor", "cuts", "closed nodes")
    back_off = "begins after the work of the tree that prices would take; 8 passes for each of the tree"
    in_proofs = True

    @staticmethod
    def applies(plan):
        """Of components that share no parameter, of few samples."""
        return bool(plan.priced)

    @classmethod
    def kind(cls, plan):
        """Return which kind of prices there are."""
        return PriceLevels if len(plan.priced) > 1 else Blocks if plan.has(Blocks) else cls

    @classmethod
    def make(cls, plan):
        """Return the Reduction: nodes look its cells up, or are bounded by its bound alone."""
        kind, learner = cls.kind(plan), partial(cls.learner, plan)
        meter = plan.meter(kind)
        if plan.has(CellCuts) or plan.cells is not None:
            slack = None if plan.cells is None else plan.cells.slack()
            found = PricingReduction(plan.family, learner, slack=slack)
        else:
            found = SharedReduction(plan.family, learner)
        found.meter = meter
        found.cutter = plan.meter(CellCuts) if plan.has(CellCuts) else meter
        if plan.has(Rounding):
            found.finder = plan.meter(Rounding)
        if kind is Pricing and plan.has(Confinement):
            plan.meter(Confinement)
        return found

    @classmethod
    def learner(cls, plan, solution, limit):
        """Return the Learner, once it begins."""
        kind, rounds = cls.kind(plan), plan.has(Rounding)
        if kind is Blocks:
            plan.begun("blocks of columns are priced")
            return BlocksBound(plan.family, plan.priced[0], solution, limit, plan.threads)
        plan.begun("single components are priced")
        if kind is PriceLevels:
            return LevelledBound(plan.family, plan.priced, solution, limit, plan.threads)
        return PricingBound(
            plan.family, plan.priced[0], solution, limit, threads=plan.threads, record=plan.cells, hasty=plan.hasty,
            confine=partial(_confinement, plan) if plan.has(Confinement) else None, patience=partial(batches_of, plan),
            rounds=rounds, rounding=plan.meter(Rounding) if rounds else None,
        )  # fmt: skip

    @staticmethod
    def begin(plan):
        """Return the nodes from which on it is at work."""
        if plan.relaxation == "pricing":
            return ASKED_FROM
        return _nodes_before_prices(plan, PATIENCE if plan.has(HittingSets) or plan.has(Corners) else 1.0)


class Early(Learning):
    """A mechanism that learns from the first node on, before prices; where it has no more to learn the next begins."""

    @staticmethod
    def comes_first(plan):
        """Return whether it comes before those that are ahead of it in the list."""
        return False

    @classmethod
    def applies(cls, plan):
        """Where prices are wanted, but not soon, and hitting sets are no better."""
        return plan.wants_prices and not plan.hasty and not plan.has(HittingSets) and cls.suits(plan)

    @staticmethod
    def suits(plan):
        """Return whether it is for such a family and so many samples."""
        raise NotImplementedError


class Raised(Early):
    """Prices as high as merging allows."""

    name, theory = "raised", "(U6)"
    what = "bounds what a component can save at prices as high as merging two components allows"
    hands_over, back_off = ("floor",), "from the first node on, until twice as many cells gain little"
    in_proofs = True

    @staticmethod
    def suits(plan):
        """Of two columns of matrices, few free variances, and known ones that have no hull."""
        if isinstance(plan.family, GaussianFamily) and Hull.name not in plan.without and Hull.suits(plan):
            return False
        return has_raised_prices(plan.family)

    @staticmethod
    def learner(plan, solution, limit):
        """Return the Learner, once it begins."""
        plan.begun("single components are priced as high as merging them allows")
        record = None if plan.blocks is None else plan.blocks.of_all()
        return RaisedBound(plan.family, plan.problem, solution, limit, plan.threads, record)


class Hull(Early):
    """Cells in the hull of the means."""

    name, theory = "hull", "(Y1)"
    what = "bounds what a component of equal variances can save in the hull of the means, whatever the columns are"
    hands_over, back_off = ("floor",), "from the first node on, until twice as many cells gain little"
    in_proofs = True

    @staticmethod
    def suits(plan):
        """Of four and more columns, known variances and spherical components, where the tree is not as soon done."""
        if is_closed_by_tree(plan.family):
            return False
        return has_hull(plan.family) and not is_priced_at_once(plan, BEFORE_HULL)

    @staticmethod
    def learner(plan, solution, limit):
        """Return the Learner, once it begins."""
        plan.begun("single components are priced in the hull of the means")
        record = None if plan.blocks is None else plan.blocks.hull
        bound = HullBound(plan.family, solution, limit, plan.threads, record, has_few(plan.family))
        return bound if record is None else ShownHull(bound, record, plan.family.n_columns >= HULL_ALONE)


class GatheredKnown(Early):
    """Groups of samples in place of samples, of known variance."""

    name, theory = "gathered_known", "(TF4)"
    what = "bounds mixtures of known variance of many samples by those of groups of them, at a cost that hardly grows"
    hands_over, back_off = ("floor",), "from the first node on, until groups are a good part of the samples"

    @staticmethod
    def suits(plan):
        """Of known variances of many samples in four to six columns; a proof has no entry for it."""
        return is_gathered(plan.family) and plan.blocks is None

    @staticmethod
    def learner(plan, solution, limit):
        """Return the Learner, once it begins."""
        plan.begun("groups of samples are searched in place of samples")
        return GatheredBound(plan.family, solution, limit, plan.epsilon, plan.of_fixed())


class Cover(Early):
    """Blocks of columns that overlap."""

    name, theory = "cover", "(I6)"
    what = "bounds mixtures of many samples and columns by what groups of samples prove of sets of columns that overlap"
    hands_over, back_off = ("floor",), "from the first node on, until sets of columns have no more to tell"
    in_proofs = True

    @staticmethod
    def suits(plan):
        """Of four and more columns, free variances."""
        return is_covered(plan.family, plan.blocks is not None) and not is_priced_at_once(plan, BEFORE_COVER)

    @staticmethod
    def comes_first(plan):
        """Of diagonal components: prices as high as merging allows say nothing before they are nearly done."""
        return plan.has(Raised) and plan.family.per_column

    @staticmethod
    def learner(plan, solution, limit):
        """Return the Learner, once it begins."""
        plan.begun("blocks of columns are priced by groups of samples")
        raised = Raised.name not in plan.without
        first_look = Cover.comes_first(plan)
        return CoverBound(
            plan.family, solution, limit, plan.threads, plan.blocks, raised, first_look, plan.problem
        )


class Groups(Early):
    """Groups of samples by their moments."""

    name, theory = "groups", "(U1)"
    what = "bounds what a component can save by groups of many samples, at a cost that does not grow with their number"
    hands_over, back_off = ("floor",), "from the first node on, until twice as many cells gain little"
    in_proofs = True

    @staticmethod
    def suits(plan):
        """Of free variances of a few columns."""
        return is_grouped(plan.family, plan.family.one_component(plan.problem))

    @staticmethod
    def learner(plan, solution, limit):
        """Return the Learner, once it begins."""
        plan.begun("single components are priced by groups of samples")
        followed = plan.has(Pricing) and len(plan.priced) == 1
        record = None if plan.blocks is None else plan.blocks.of_all()
        return GroupedBound(
            plan.family, plan.problem, solution, limit, plan.threads, followed=followed, record=record
        )


class Labels(Early):
    """Labels of the incumbent, and samples with noise."""

    name, theory = "labels", "(TL1)"
    what = "bounds one covariance matrix of many samples in closed form, by entropies of clusters' samples with noise"
    hands_over, back_off = ("floor",), "from the first node on, until narrower noise gains nothing"

    @staticmethod
    def suits(plan):
        """Of one covariance matrix of a few columns; for two components of many samples, in three columns and more."""
        return _is_tied(plan.family) and has_labels(plan.family)

    @staticmethod
    def learner(plan, solution, limit):
        """Return the Learner, once it begins."""
        plan.begun("entropies of clusters' samples with noise are taken")
        return LabelBound(plan.family.slices() if plan.slices is None else plan.slices, solution, limit)


class Shares(Early):
    """Shares of an incumbent's labels that a component takes."""

    name, theory = "shares", "(OL1)"
    what = "bounds covariance matrices of each component's own, of many samples, by what parts of clusters it can take"
    hands_over, back_off = ("floor",), "from the first node on, until boxes of parts have no more to tell"

    @staticmethod
    def suits(plan):
        """Of matrices of three columns and more of each component's own; a proof has no entry for it."""
        return plan.family.has_marginals and plan.blocks is None and has_shares(plan.family, plan.problem)

    @staticmethod
    def learner(plan, solution, limit):
        """Return the Learner, once it begins."""
        plan.begun("parts of clusters that a component can take are bounded")
        return ShareBound(plan.problem, plan.family, solution, limit)


class CellCuts(Mechanism):
    """Bound tightening by the cells that prices leave."""

    name, theory = "cell_cuts", "(C2)"
    what = "cuts nodes down to the cells that prices have left, by look-ups"
    hands_over, inside = ("cuts", "closed nodes", "bounds of nodes"), Pricing
    back_off = "new nodes are not looked at for some batches where that is mostly in vain"
    in_proofs = True

    @staticmethod
    def applies(plan):
        """Where single components are priced."""
        return plan.has(Pricing)


class Confinement(Mechanism):
    """Questions to prices."""

    name, theory = "confinement", "(C7)"
    what = "shows by prices that every better mixture has one component in each cell of the incumbent's box"
    hands_over, inside = ("floor", "cuts"), Pricing
    back_off = "once the tree has gone on for more terms than the prices took; sides not where boxes were in vain"

    @staticmethod
    def applies(plan):
        """Where samples are priced, but for bounds that are wanted soon."""
        return plan.has(Pricing) and not plan.hasty


class Rounding(Mechanism):
    """Integer solutions from the master problem."""

    name, theory = "rounding", "(P8)"
    what = "draws components from the fractional solution of the master problem, and runs EM from there"
    hands_over, inside = ("incumbents",), Pricing
    back_off = "once, after the tree has gone on for as many terms"
    in_proofs = True

    @staticmethod
    def applies(plan):
        """Where single components of all columns are priced, of the samples."""
        return plan.rounds and plan.has(Pricing) and len(plan.priced) == 1 and not plan.has(Blocks)


class PriceLevels(Mechanism):
    """Prices of summaries."""

    name, theory = "price_levels", "(P7)"
    what = "prices the points of summaries of many samples, from coarse to fine"
    hands_over, back_off = ("floor", "cuts", "closed nodes"), "begins after the work of the tree that prices would take"

    @staticmethod
    def applies(plan):
        """Of more samples than can be priced."""
        return not is_few(plan)


class Blocks(Mechanism):
    """Blocks of columns."""

    name, theory = "blocks", "(I3)"
    what = "bounds mixtures of many columns by the sum of what prices prove of blocks of them"
    hands_over = ("floor",)
    back_off = "larger or smaller blocks once those at hand have no more to tell"

    @staticmethod
    def applies(plan):
        """Of diagonal and spherical components of many parameters."""
        return is_divided(plan.family)


class SharedParameters(Learning):
    """Cuts through a shared parameter."""

    name, theory = "shared_parameters", "(T2)"
    what = "bounds mixtures that share a parameter by searches of those in which it is fixed"
    hands_over, back_off = ("floor",), "at most 60 values where it is no proof; 8 passes for each of the tree"

    @staticmethod
    def applies(plan):
        """Of components that share a parameter, of samples of which searches can keep copies, or groups."""
        return plan.slices is not None

    @classmethod
    def kind(cls, plan):
        """Return what is made of searches of known covariances: cells, simplices or lines."""
        return next((kind for kind in (Factors, Simplices) if plan.has(kind)), cls)

    @classmethod
    def learner(cls, plan, solution, limit):
        """Return the Learner, once it begins."""
        slices = plan.slices
        plan.begun("mixtures in which the shared parameter is fixed are bounded")
        if cls.kind(plan) is not cls:
            made_of = slices, solution, limit, plan.epsilon, plan.of_fixed(hasty=True)
            if cls.kind(plan) is Simplices:
                return SimplexBound(*made_of)
            prices = None
            if plan.has(RoughPrices):
                gathered = plan.meter(Gathered) if plan.has(Gathered) else None
                prices = PriceMaker(RoughPrices.learner, plan.meter(RoughPrices), gathered)
            return FactorBound(*made_of, prices, plan.meter(Noisy) if plan.has(Noisy) else None)
        return SharedBound(
            slices, slices.first(solution), limit, plan.epsilon, plan.of_fixed(hasty=not slices.exact)
        )

    @staticmethod
    def begin(plan):
        """Return the nodes from which on it is at work."""
        if plan.relaxation == "pricing" or plan.slices.at_once:
            return ASKED_FROM
        return _nodes_before_prices(plan, PATIENCE)


class Factors(Mechanism):
    """Cells of the Cholesky factor of a covariance matrix."""

    name, theory = "factors", "(TF1)"
    what = "bounds one covariance matrix by cells of its factor, or of two means' direction, below cuts of fixed ones"
    hands_over, back_off = ("floor",), "at most 2,000 matrices and 400,000 open cells"

    @staticmethod
    def applies(plan):
        """Of one covariance matrix of three columns, or two and not few samples; of two components in up to five."""
        return plan.has(SharedParameters) and plan.slices.has_factors


class RoughPrices(Mechanism):
    """Prices of mixtures of a known covariance matrix, no better than is asked for."""

    name, theory = "rough_prices", "(TF3)"
    what = "bounds mixtures of a fixed covariance matrix by prices alone, no more exactly than what is missing asks for"
    hands_over, back_off = ("floor",), "once little is missing, where searches are as soon done"

    @staticmethod
    def applies(plan):
        """Where cuts are made of mixtures of a known covariance matrix."""
        return plan.has(Factors) and not plan.without & {Pricing.name, Groups.name}

    @staticmethod
    def learner(plan, solution, limit, rough, lift=None):
        """Return the Learner of the plan of such a mixture, which may lose so many nats; `lift` of its prices (n,)."""
        if plan.family.data.n_samples <= MOST_PRICED_ROUGHLY:
            one = plan.family.one_component(plan.problem)  # of all samples: what summaries lose is more than it may
            return PricingBound(
                plan.family, one, solution, limit, threads=plan.threads, hasty=True, rough=rough, rounds=False,
                lift=lift,
            )  # fmt: skip
        return GroupedBound(plan.family, plan.problem, solution, limit, plan.threads)


class Gathered(Mechanism):
    """Groups of samples in place of samples, for prices that may lose something."""

    name, theory = "gathered", "(TF4)"
    what = "bounds mixtures of a fixed covariance matrix by those of groups of many samples, as points of their own"
    hands_over, inside = ("floor",), RoughPrices
    back_off = "of a cut, where groups would be half as many as the samples"

    @staticmethod
    def applies(plan):
        """Where such prices are of many samples."""
        return plan.has(RoughPrices) and are_gathered(plan.family.data)


class Noisy(Mechanism):
    """Entropies of samples with noise."""

    name, theory = "noise", "(TF5)"
    what = "bounds mixtures of any covariance matrix at once by entropies of samples with noise, in place of searches"
    hands_over, inside = ("floor",), RoughPrices
    back_off = "where cells ask for more than is said of samples with noise of about the matrix asked for"

    @staticmethod
    def applies(plan):
        """Where cuts may lose something, of many samples."""
        return plan.has(RoughPrices) and is_noisy(plan.family.data)


class Simplices(Mechanism):
    """Simplices of matrices."""

    name, theory = "simplices", "(T6)"
    what = "interpolates bounds at fixed covariance matrices over simplices, in place of one number of a matrix"
    hands_over, back_off = ("floor",), "at most 2,000 matrices"

    @staticmethod
    def applies(plan):
        """Of one covariance matrix of two columns for three components and more."""
        return plan.has(SharedParameters) and plan.slices.has_simplices


class ChainsOfRegressions(Learning):
    """Covariance matrices of three columns and more as chains of regressions."""

    name, theory = "chains", "(N1)"
    what = "bounds mixtures of covariance matrices by prices of the regressions of each direction on those before it"
    hands_over, back_off = ("floor",), "once the suprema of all regressions are known"
    reduction = PricingReduction

    @staticmethod
    def applies(plan):
        """Where components have too many parameters to be priced, of few samples."""
        return has_matrices(plan) and plan.family.data.n_samples <= MOST_CHAINED

    @staticmethod
    def learner(plan, solution, limit):
        """Return the Learner, once it begins."""
        plan.begun("regressions of a chain are priced")
        marginal = plan.meter(Marginal) if plan.has(Marginal) else None
        return ChainsBound(plan.problem, plan.family, solution, limit, plan.threads, marginal)


class Marginal(Learning):
    """Two directions of many columns."""

    name, theory = "marginal", "(I5)"
    what = "bounds mixtures of covariance matrices of many columns by prices of their marginal in two directions"
    hands_over, back_off = ("floor",), "once its suprema are known"
    reduction = PricingReduction

    @staticmethod
    def applies(plan):
        """Where components have too many parameters to be priced."""
        return has_matrices(plan)

    @staticmethod
    def learner(plan, solution, limit):
        """Return the Learner, once it begins."""
        return MarginalBound(plan.problem, plan.family, solution, limit)


# All of them, in the order in which they act on a search.
MECHANISMS = (
    ClosedForm, SaturatedBound, LocalSearch, Moves, Perturbation,
    RelaxedDual, Summaries, DividedCells, DividedAgain, Crossed, Corners,
    HessianBox,
    HittingSets, Raised, GatheredKnown, Hull, Cover, Groups, Labels, Shares, Pricing, CellCuts, Confinement, Rounding,
    PriceLevels, Blocks, SharedParameters, Factors, RoughPrices, Gathered, Noisy, Simplices,
    ChainsOfRegressions, Marginal,
)  # fmt: skip
NAMES = tuple(mechanism.name for mechanism in MECHANISMS)
FLOORS = tuple(one for one in MECHANISMS if issubclass(one, Floor))
BOXES = tuple(one for one in MECHANISMS if issubclass(one, Box))
# What is learnt beside the tree: the first of LEARNERS that applies. Hitting sets, or all of EARLY that apply one after
# the other, come before and hand over to it.
EARLY = tuple(one for one in MECHANISMS if issubclass(one, Early))
LEARNERS = tuple(one for one in MECHANISMS if issubclass(one, Learning) and one not in EARLY)


def has_matrices(plan):
    """Return whether components have covariance matrices of too many entries to be priced."""
    if not plan.wants_prices or plan.has(Pricing) or plan.has(SharedParameters):
        return False
    return plan.family.has_marginals and is_few(plan)


def is_closed_by_tree(family):
    """Return whether branch and bound alone closes most problems: means of known variance, of few numbers."""
    if not isinstance(family, GaussianFamily) or family.n_ranges or family.has_prior:
        return False
    return family.n_columns > 1 and (family.n_components - 1) * family.n_columns <= CLOSED_BY_TREE


def is_priced_at_once(plan, parameters):
    """Return whether prices of all samples prove more than what would come before: of components of few parameters."""
    if not plan.has(Pricing) or plan.blocks is not None:
        return False
    return plan.family.data.n_samples <= MOST_AT_ONCE and plan.family.n_cell <= parameters


def has_groups(plan):
    """Return whether searches of a fixed covariance matrix are of groups of samples, which are few of any number."""
    needed = {Factors.name, RoughPrices.name, Gathered.name, Pricing.name, Groups.name}
    if not _is_tied(plan.family) or plan.without & needed:
        return False
    return is_factored(plan.family) and are_gathered(plan.family.data)


def has_exact_lines(family):
    """Return whether lines lose nothing where what components share is fixed: numbers, or a matrix of one direction."""
    return not _is_tied(family) or rank_between(family) == 1


def _is_tied(family):
    from gopfast.mixtures.families.tied import TiedFamily  # where there is such a family it is loaded

    return isinstance(family, TiedFamily)


def is_few(plan):
    """Return whether the samples are few enough to have a price each."""
    return plan.family.data.n_samples <= MOST_PRICED


def priced_families(plan):
    """Return the families of one component that prices are of: of the samples, or of summaries from coarse to fine."""
    data = plan.family.data
    if not is_few(plan) and PriceLevels.name in plan.without:
        return []
    found = [plan.family.one_component(plan.problem, level) for level in levels_of(data, MOST_PRICED, MOST_POINTS)]
    return found if found and found[0] is not None else []


def terms_of_a_node(plan):
    """Return about what a node takes, in terms of sums: of the coarsest summary, as most nodes need no finer one."""
    family, F = plan.family, plan.family.n_statistics
    points = family.data.levels[0].n_samples if plan.has(Summaries) else family.data.n_samples
    terms = TERMS_OF_A_NODE + points * family.n_components * F * (8 + F) // 8
    return terms * CORNERS_COST if plan.has(Corners) else terms


def batches_of(plan, terms):
    """Return about in how many batches of nodes the tree has so many terms."""
    return int(terms / (terms_of_a_node(plan) * NODES_OF_A_BATCH))


def _confinement(plan, bound, solution):
    """Return what is asked of prices once there are cells."""
    box = box_around(plan.family, solution, bound.limit)
    return ConfinementQuestions(bound, solution, box, plan.meter(Confinement))


def _nodes_before_prices(plan, patience):
    """Return how many nodes the tree bounds before it has cost what prices do, times so much patience."""
    terms = terms_of_a_node(plan)
    before = TERMS_OF_A_PRICE * plan.family.data.n_samples
    if is_closed_by_tree(plan.family):
        before = min(MOST_BEFORE_CLOSED, CLOSED_PATIENCE * before)
    else:
        before = min(MOST_BEFORE_PRICES, before)
    # where nodes are costly few of them are as much as prices may wait for
    return max(ASKED_FROM, min(REDUCED_FROM, MOST_BEFORE_PRICES // terms), int(patience * before / terms))


def _takes_boxes(plan):
    """Return whether a box of all parameters can hold nodes: those of crossed classes are divided in some alone."""
    if plan.is_summary and plan.relaxation == "linear":
        return False
    return not plan.has(Crossed)


def _linear_dual(plan):
    """Return the paper's relaxed dual."""
    from gopfast.mixtures.relaxations.linear import LinearRelaxation  # needs HiGHS

    if not isinstance(plan.family, GaussianFamily) or plan.family.n_ranges:
        raise InputError("relaxation='linear' needs a GaussianMixture of known variance with posterior='point'")
    return LinearRelaxation(plan.family, plan.options.partition == "paper", milp=plan.options.subproblem == "milp")


def has_hessian_box(family):
    """Return whether a box by bounds of the Hessian is known: of known variances and point posteriors."""
    return isinstance(family, GaussianFamily) and not family.n_ranges


def box_around(family, solution, limit):
    """Return what finds a box around a solution on which nothing lies below a limit, or None."""

    def box(meter):
        primal, K = MixturePrimal(family), family.n_components
        quick = has_hessian_box(family)
        # the widest; where nodes of known variance are bounded on summaries the one that is worth its cost there
        chart = None if quick and family.data.levels else family.chart()
        if chart is None and not quick:
            return None
        _, (value, *_), _ = primal.em(solution[:K], solution[K:-1], 0.0, 0)
        meter.count(terms=primal.meter.terms)
        found = MixtureBasin(family, primal) if chart is None else Neighbourhood(primal, chart)
        is_found = found.find(solution, value - limit)
        meter.count(terms=found.meter.terms)
        return SimpleNamespace(**found.report()) if is_found else None

    return box
