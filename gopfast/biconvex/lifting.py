"""From a BiconvexProblem to what the core works on: products, convex forms, lifted rows, scaled by powers of two.

Theory: (X3) and (X8) of docs/theory/biconvex.md.
"""

import math
from collections import defaultdict

import numpy as np

from gopfast.biconvex import complementarity, grouping, lifted_inequalities, moments
from gopfast.biconvex.data import BiconvexData
from gopfast.biconvex.forms import components, convexity_defect, is_convex
from gopfast.biconvex.interruption import check
from gopfast.biconvex.partition import find as find_partition
from gopfast.biconvex.problem import terms_of
from gopfast.biconvex.tuning import (
    LARGEST_SCALE,
    LEAST_FLOOR,
    MOST_ADDED_PRODUCTS,
    MOST_ALONE,
    MOST_LIFTED_ENTRIES,
    MOST_LIFTED_ROWS,
    MOST_WITH_ALL_ROWS,
)


class Row:
    """``lower <= linear + products + forms <= upper``; a row with forms has no lower bound."""

    def __init__(self, linear, lower, upper):
        self.linear, self.lower, self.upper = linear, lower, upper
        self.products = defaultdict(float)  # (i, j), i <= j -> coefficient
        self.forms = []  # dicts (i, j), i <= j -> coefficient of a convex form
        self.floor = None  # see Lifting.violation_sizes, once asked for
        self.mixed = []  # such dicts that are not convex as a whole, until their variables have groups

    def negated(self):
        """Return the same row with the other sign; only before forms are found."""
        return Row({i: -a for i, a in self.linear.items()}, -self.upper, -self.lower)


class Lifting:
    """
    A problem in the core's form.

    Parameters
    ----------
    problem : BiconvexProblem
    with_switches : bool
        Whether to branch on which side of a complementarity vanishes.
    stop : StopSignal, optional
        Ends it, and whatever is made of it later, with `Stopped`.
    without : frozenset of str
        Names of mechanisms that are switched off.

    Attributes
    ----------
    rows : list of Row
        All constraints.
    objective : Row
        Minimised; bounds unused.
    copies : dict
        Copy -> variable, of the partition into x and y. The core has none: there a copy is the variable itself, so that
        the products of both have one column, and fixing either side fixes it.
    split, bilinear : list of int
        Variables with a place in x, the smaller side, and all that are in products; arguments of atoms are in both.
    atoms : list of Atom
        Variables that are functions of others.
    ordering : sequence of (dict, float)
        Linear rows (coefficients, lower bound) that one of the images of each point meets (XL2): programs have them,
        but no point that is found needs to meet them.
    lifts_inequalities, cuts_moments : bool
        Whether these mechanisms are at work, where they can.
    lifts_equations : bool
        Whether the last data have equations times variables.
    switches : list of (Side, Side)
        Pairs of which one vanishes; the core has a variable for each, before all others.
    essential : set of int
        Variables of products that no switch decides, and arguments of atoms.
    sign : int
        -1 where the user maximises.
    """

    def __init__(self, problem, with_switches=True, stop=None, without=frozenset()):
        self.problem, self.stop = problem, stop
        self.lifts_inequalities = lifted_inequalities.LiftedInequalities.name not in without
        self.cuts_moments = moments.SemidefiniteCuts.name not in without
        n = problem.n_variables
        self.sign = -1 if problem.sense == "max" else 1
        self.objective = self._row(problem.c, problem.Q, -math.inf, math.inf, True, self.sign)
        self.rows = [
            Row(linear, lower, upper)
            for linear, lower, upper in _csr_rows(problem.A, problem.row_lower, problem.row_upper)
        ]
        for row in problem.quadratic_rows:
            if row.lower == -math.inf or row.upper == math.inf:
                flip = 1 if row.lower == -math.inf else -1
                lower, upper = (row.lower, row.upper) if flip == 1 else (-row.upper, -row.lower)
                self.rows.append(self._row(row.a, row.Q, lower, upper, True, flip))
            else:
                self.rows.append(self._row(row.a, row.Q, row.lower, row.upper, False))
        everything = [self.objective, *self.rows]
        self._split_mixed(everything)
        pairs = sorted({pair for row in everything for pair in row.products})
        partition = find_partition(pairs, n, problem.names, problem.x, problem.y)
        self.copies = partition.copies
        for row in everything:
            row.products = {pair: value for pair, value in row.products.items() if value}
        self.products = sorted({pair for row in everything for pair in row.products})
        self.n, self.low, self.high = n, problem.lower, problem.upper
        self.largest = np.maximum(abs(self.low), abs(self.high)).tolist()
        self.nearest = np.maximum(0.0, np.maximum(self.low, -self.high)).tolist()
        on_side = [{self.copies.get(i, i) for i, s in partition.side.items() if s == side} for side in (0, 1)]
        # variables whose functions are others: whatever sides there are, they are divided, and fixed with both
        arguments = {atom.argument for atom in problem.atoms}
        self.atoms = list(problem.atoms)
        self.split = sorted(on_side[0] | arguments)
        self.bilinear = sorted(on_side[0] | on_side[1] | arguments)
        rest = sorted(set(self.bilinear).difference(self.split))
        linear = sorted(set(range(n)).difference(self.bilinear))
        self.order = np.array(self.split + rest + linear)
        self.n_split, self.n_bilinear = len(self.split), len(self.bilinear)
        self.fixed = np.zeros((2, n), bool)  # by side
        for pair in self.products:
            for i in partition.products[pair]:
                self.fixed[partition.side[i], self.copies.get(i, i)] = True
        self.fixed[:, sorted(arguments)] = True
        self._find_switches(with_switches)
        self.essential |= arguments
        self.ordering, self.lifts_equations = (), False
        # Place of a variable in the core's order
        self.place = len(self.switches) + np.argsort(self.order)

    def add_rows(self, rows):
        """Add linear rows (coefficients, lower bound) that all feasible points meet: they are the core's alone."""
        self.rows += [Row(dict(linear), lower, math.inf) for linear, lower in rows]

    def inequalities(self):
        """Return the constraints as (row, sign, limit): sign * row <= limit, of which a limit may be infinite."""
        return [(row, sign, limit) for row in self.rows for sign, limit in ((1, row.upper), (-1, -row.lower))]

    def _find_switches(self, with_switches):
        """Pairs of which one vanishes, and what products they do not decide."""
        self.switches, implied = [], set()
        if with_switches:
            self.switches, implied = complementarity.find(self.rows, self.low, self.high)
        undecided = [self.objective] + [row for number, row in enumerate(self.rows) if number not in implied]
        self.undecided = {pair for row in undecided for pair in row.products}
        self.essential = {i for pair in self.undecided for i in pair}

    def _row(self, a, Q, lower, upper, convex, sign=1):
        """Return the row of ``sign (a'z + z'Qz)``; convex: its forms need no lower bound."""
        check(self.stop)
        used = np.flatnonzero(a)
        row = Row(dict(zip(used.tolist(), (sign * a[used]).tolist(), strict=True)), lower, upper)
        if not len(Q.data):
            return row
        i, j, coefficients = terms_of(Q)
        terms = dict(zip(zip(i.tolist(), j.tolist(), strict=True), (sign * coefficients).tolist(), strict=True))
        for form in components(terms):
            if convex and is_convex(form):
                row.forms.append(form)
                continue
            if convex:
                # squares of the wrong sign are products in any case
                mixed = {pair: value for pair, value in form.items() if pair[0] != pair[1] or value > 0}
                row.mixed += [mixed] if mixed else []
                form = {pair: value for pair, value in form.items() if pair not in mixed}
            for pair, value in form.items():
                row.products[pair] += value
        return row

    def _split_mixed(self, rows):
        """Turn the forms that are not convex into convex ones in each group, squares, and products."""
        forms = [form for row in rows for form in row.mixed]
        if not forms:
            return
        given = {i: side for side, group in enumerate((self.problem.x, self.problem.y)) for i in group or ()}
        products = [pair for row in rows for pair in row.products]
        colour = grouping.find(forms, products, given, self.stop)
        for row in rows:
            for form in row.mixed:
                inside = {pair: value for pair, value in form.items() if colour[pair[0]] == colour[pair[1]]}
                for part in components(inside):
                    if is_convex(part):
                        row.forms.append(part)
                        continue
                    for (i, j), value in part.items():
                        if i == j:
                            row.forms.append({(i, i): value})
                        else:
                            row.products[i, j] += value
                for pair in form.keys() - inside.keys():
                    row.products[pair] += form[pair]
            row.mixed = []

    def in_forms(self):
        """Return the variables of convex forms."""
        return {i for row in [self.objective, *self.rows] for form in row.forms for pair in form for i in pair}

    def has_free_curves(self, low, high):
        """Whether a variable without finite bounds is in a product or a form."""
        free = np.flatnonzero(~(np.isfinite(low) & np.isfinite(high))).tolist()
        return bool(free) and not self.in_forms().union(self.bilinear).isdisjoint(free)

    def unbounded(self, low, high):
        """Return the name of a bilinear variable without finite bounds, or None."""
        for i in self.bilinear:
            if not (math.isfinite(low[i]) and math.isfinite(high[i])):
                return self.problem.names[i]
        return None

    def to_core(self, points, scale):
        """
        Turn points in the user's units and order into the core's; switches as the points have it.

        Parameters
        ----------
        points : ndarray, shape (..., n)
        scale : ndarray, shape (n,)

        Returns
        -------
        ndarray, shape (..., n + number of switches)
        """
        sizes = np.array([[_size_at(side, points) for side in pair] for pair in self.switches])
        switches = [np.where(first <= second, -1.0, 1.0) for first, second in sizes] if self.switches else []
        return np.stack([*switches, *np.moveaxis((points / scale)[..., self.order], -1, 0)], axis=-1)

    def to_user(self, box, scale):
        """Turn a box in the core's order and scale into the user's."""
        return tuple(bound[self.place] * scale for bound in box)

    def data(self, low, high, lifted=True, one_side=False):
        """
        Make the core's data over a box.

        Parameters
        ----------
        low, high : ndarray, shape (n,)
            Bounds in the user's units and order; infinite ones may remain.
        one_side : bool
            Whether only the side with fewer connected variables may be split.
        lifted : bool
            Whether to add products of constraints with bounds (reformulation-linearisation).

        Returns
        -------
        BiconvexData, ndarray, float
            The data, the variables' scale (user = scale * core, in the user's order) and the objective's.
        """
        scale = self._scales(low, high)
        lifts = self._lifts(low, high) if lifted else _Lifts(self)
        lifts.lifted = lifted
        self.lifts_equations = bool(lifts.equations)
        if lifted and self.cuts_moments:
            self._add_moments(lifts, low, high)
        record = _Record(self, scale, lifts, low, high)
        record.fields["n_split"] = len(self.switches) + (self.n_split if one_side else self.n_bilinear)
        return BiconvexData(record.fields), scale, record.objective_scale

    def violation_sizes(self, row):
        """Return what a row's violations are relative to, see `BiconvexProblem.violations`: at least, and at most.

        At most: of its lower and of its upper bound.
        """
        if row.floor is None:
            row.floor = self._sizes(row)
        return row.floor

    def _sizes(self, row):
        greatest = most = data = 0.0
        factors = [(abs(a), (i,)) for i, a in row.linear.items()]
        factors += [(abs(a), pair) for terms in (row.products, *row.forms) for pair, a in terms.items()]
        for a, members in factors:
            largest = [self.largest[i] for i in members]
            greatest = max(greatest, a)
            most = max(most, a * math.prod(largest) if all(largest) else 0.0)
            near = max(math.prod(min(1.0, size) for size in largest), math.prod(self.nearest[i] for i in members))
            data = max(data, a * near)
        floor = max(min(1.0, greatest, most), LEAST_FLOOR)
        return floor, *(max(floor, data, abs(b) if math.isfinite(b) else 0.0) for b in (row.lower, row.upper))

    def _scales(self, low, high):
        """Powers of two near each variable's magnitude: scaling rounds nothing."""
        largest = np.maximum(np.where(np.isfinite(low), abs(low), 0), np.where(np.isfinite(high), abs(high), 0))
        known = np.isfinite(low) & np.isfinite(high) & (largest > 0)
        scale = np.where(largest > 0, largest, 1.0)
        # Unbounded: as large as the other terms of some row let it be
        for row in self.rows:
            check(self.stop)
            for i, a in row.linear.items():
                if not known[i]:
                    others = [abs(b) * scale[j] for j, b in row.linear.items() if j != i and known[j]]
                    others += [abs(b) for b in (row.lower, row.upper) if math.isfinite(b) and b != 0]
                    if others:
                        scale[i] = max(max(others) / abs(a), scale[i] if largest[i] else 0)
        return 2.0 ** np.floor(np.log2(np.clip(scale, 1 / LARGEST_SCALE, LARGEST_SCALE)))

    def _lifts(self, low, high):
        """Products of linear rows with a bilinear variable (equalities) or its distance from a bound."""
        lifts = _Lifts(self)
        bounded = np.isfinite(low) & np.isfinite(high)
        partners = defaultdict(set)
        for i, j in self.products:
            partners[i].add(j)
            partners[j].add(i)
        mixed = self._without_sides()
        candidates = []
        for number, row in enumerate(self.rows):
            if row.products or row.forms or not row.linear:
                continue
            check(self.stop)
            support = set(row.linear)
            if len(support.difference(self.bilinear)) > MOST_ALONE:
                continue
            # A factor of any of the row's variables
            for j in sorted(set().union(*(partners[i] for i in support))):
                added = len(support - partners[j])
                is_worth = row.lower == row.upper or (
                    self.lifts_inequalities and lifted_inequalities.is_worth(added, len(support), j in mixed))
                if is_worth and all(bounded[i] for i in support) and bounded[j]:
                    candidates.append((row.lower != row.upper, added, number, j))
        for inequality, _, number, j in sorted(candidates):
            check(self.stop)
            lifts.add(self.rows[number], j, inequality)
        return lifts

    def _without_sides(self):
        """Variables that products connect with one that is on both sides."""
        both = set(np.flatnonzero(self.fixed.all(axis=0)).tolist())
        connected = [{i for pair in form for i in pair} for form in components(dict.fromkeys(self.products, 1.0))]
        return set().union(*(members for members in connected if members & both))

    def _add_moments(self, lifts, low, high):
        """Find sets of variables (`moments`), and add the products that they lack.

        Where the problem has two groups of variables semidefinite cuts add little to lifted rows, and where linear
        inequalities hold the variables they cost more than they close.
        """
        both = self.fixed.all(axis=0)
        held = {
            i for row in self.rows if row.lower != row.upper and not (row.products or row.forms) for i in row.linear
        }
        for form in components(dict.fromkeys(self.products, 1.0)):
            members = sorted({i for pair in form for i in pair})
            if not (held.isdisjoint(members) and both[members].any() and np.isfinite(low[members]).all()
                    and np.isfinite(high[members]).all()):
                continue
            sets, pairs = moments.sets_of(members, form)
            for own in sets:
                for a, i in enumerate(own):
                    for j in own[a:]:
                        lifts.products.setdefault((i, j), len(lifts.products))
            lifts.moments += sets + [own for own in pairs if all((i, i) in lifts.products for i in own)]


class _Lifts:
    """Lifted rows, and the products of the problem with those that they add; sets of variables for moments."""

    def __init__(self, lifting):
        self.products = {pair: k for k, pair in enumerate(lifting.products)}
        self.n_own = len(self.products)
        self.equations = []  # (row, j)
        self.n_entries = 0  # of those
        self.inequalities = []  # (coefficients of a'z + b >= 0 times `sign`, j)
        self.moments = []  # lists of variables all of whose products are there
        self.lifted = False  # whether rows beside the problem's may be there

    def add(self, row, j, inequality):
        new = [_ordered((i, j)) for i in row.linear if _ordered((i, j)) not in self.products]
        if len(self.products) + len(new) > 3 * self.n_own + MOST_ADDED_PRODUCTS:
            return
        count = 2 * (math.isfinite(row.lower) + math.isfinite(row.upper))
        if len(self.inequalities) + count > MOST_LIFTED_ROWS if inequality else (
                self.n_entries + len(row.linear) > MOST_LIFTED_ENTRIES):
            return
        for pair in new:
            self.products.setdefault(pair, len(self.products))
        if not inequality:
            self.n_entries += len(row.linear)
            self.equations.append((row, j))
            return
        for bound, sign in ((row.lower, 1.0), (row.upper, -1.0)):
            if math.isfinite(bound):
                factor = {i: sign * a for i, a in row.linear.items()}
                self.inequalities += [(factor, -sign * bound, j, 0), (factor, -sign * bound, j, 1)]


class _Record:
    """Fills the arrays of BiconvexData in the core's order and scale."""

    def __init__(self, lifting, scale, lifts, low, high):
        self.place, self.scale, self.lifting = lifting.place, scale, lifting
        # Their terms are 0, and large coefficients of them would make the others small in a scaled row.
        self.zero = {i for i in range(lifting.n) if low[i] == high[i] == 0}
        self.n_switches = len(lifting.switches)
        self.n = self.n_switches + lifting.n
        self.products = lifts.products
        self.forms, self.form_columns = [], []
        own = [row for row in lifting.rows if row.linear or row.products or row.forms]
        rows = [self._row(row) for row in own]
        # what violations are relative to, at least and at most; of an atom to its value, whatever that is
        all_sizes = [lifting.violation_sizes(row) for row in own]
        for k, atom in enumerate(lifting.atoms):
            value = int(self.place[atom.value])
            rows.append(({value: scale[atom.value], ("atom", k): -scale[atom.value]}, 0.0, 0.0))
            all_sizes.append((min(1.0, lifting.largest[atom.value]) or 1.0, math.inf, math.inf))
        n_own_rows = len(rows)
        rows += [row for row in (self._lifted_equation(row, j) for row, j in lifts.equations) if row[0]]
        switched = [side for pair in lifting.switches for side in pair if side.variable is None]
        first_switched = len(rows)
        rows += [self._side(side) for side in switched]
        if lifts.lifted:
            rows += [({int(self.place[i]): a * scale[i] for i, a in row.items()}, lower, math.inf)
                     for row, lower in lifting.ordering]  # fmt: skip
        sizes = [_size(terms) for terms, *_ in rows]
        rows = [_scaled(*row, size) for row, size in zip(rows, sizes, strict=True)]
        floors = [[of / size for of in own] for own, size in zip(all_sizes, sizes[:n_own_rows], strict=True)]
        objective, lower, upper = self._row(lifting.objective)
        greatest = max((abs(a) for a in objective.values()), default=1.0)
        self.objective_scale = _power(greatest)
        constant = lifting.sign * lifting.problem.constant
        objective = {column: a / self.objective_scale for column, a in objective.items()}
        rows.append((objective, lower, upper))
        n_forms = len(self.forms)
        first_atom = self.n + len(self.products) + n_forms
        self.n_cols = first_atom + len(lifting.atoms)
        rows = [_with_columns(row, first_atom) for row in rows]
        for k, (i, j) in enumerate(self.products):
            if i == j:
                self.forms.append(({(i, i): 1.0 / (scale[i] * scale[j])}, 1.0))
                self.form_columns.append(self.n + k)
        cost = np.zeros(self.n_cols)
        for column, a in objective.items():
            cost[column] = a
        fields = {"n_own_rows": n_own_rows, "constant": constant / self.objective_scale, "cost": cost}
        floors = np.array(floors).reshape(n_own_rows, 3).T
        fields["row_floor"], fields["most_below"], fields["most_above"] = floors
        fields["fixed"] = np.hstack([np.zeros((2, self.n_switches), bool), lifting.fixed[:, lifting.order]])
        for name, bound, end in (("low", low, -1.0), ("high", high, 1.0)):
            fields[name] = np.concatenate([np.full(self.n_switches, end), (bound / scale)[lifting.order]])
        fields |= self._atoms(lifting.atoms)
        fields |= self._switches(lifting.switches, first_switched, sizes)
        fields |= _csr(rows)
        fields |= self._blocks(n_forms)
        fields |= self._lifted(lifts.inequalities)
        pairs = [(self.place[i], self.place[j]) for i, j in self.products]
        fields["first"], fields["second"] = [min(pair) for pair in pairs], [max(pair) for pair in pairs]
        fields["own"] = [pair in lifting.undecided for pair in self.products]
        fields |= self._moments(lifts.moments)
        fields |= self._directions(rows, fields, lifts)
        self.fields = fields

    def _row(self, row):
        check(self.lifting.stop)
        terms = self._terms(row, self.zero)
        # a row of such terms alone shows whether the problem is infeasible
        return terms or self._terms(row, set()), row.lower, row.upper

    def _terms(self, row, zero):
        terms = {int(self.place[i]): a * self.scale[i] for i, a in row.linear.items() if i not in zero}
        for (i, j), a in row.products.items():
            if i not in zero and j not in zero:
                terms[self.n + self.products[i, j]] = a * self.scale[i] * self.scale[j]
        for form in row.forms:
            form = {pair: a for pair, a in form.items() if not zero.intersection(pair)}
            if not form:
                continue
            size = _power(max(abs(a) * self.scale[i] * self.scale[j] for (i, j), a in form.items()))
            terms[self.n + len(self.products) + len(self.forms)] = size
            self.forms.append((form, size))
        return terms

    def _atoms(self, atoms):
        """Return functions, their arguments, and the scales of both; a column has the scale of its variable."""
        return {
            "atom_function": [atom.function for atom in atoms], "atom_exponent": [atom.exponent for atom in atoms],
            "atom_argument": [self.place[atom.argument] for atom in atoms],
            "atom_argument_scale": [self.scale[atom.argument] for atom in atoms],
            "atom_value_scale": [self.scale[atom.value] for atom in atoms],
        }  # fmt: skip

    def _side(self, side):
        """Return a row without limits, for what vanishes in some nodes."""
        return {int(self.place[i]): a * self.scale[i] for i, a in side.linear.items()}, -math.inf, math.inf

    def _switches(self, switches, row, sizes):
        """Return what vanishes on each side: a variable, or a row at a value; -1 for neither."""
        variables, rows, values = [], [], []
        for side in (side for pair in switches for side in pair):
            if side.variable is None:
                variables.append(-1)
                rows.append(row)
                values.append(-side.constant / sizes[row])
                row += 1
            else:
                variables.append(int(self.place[side.variable]))
                rows.append(-1)
                values.append(0.0)
        return {"switch_variable": variables, "switch_row": rows, "switch_value": values}

    def _lifted_equation(self, row, j):
        """(a'z - b) z_j = 0."""
        check(self.lifting.stop)
        terms = {self.n + self.products[_ordered((i, j))]: a * self.scale[i] * self.scale[j]
                 for i, a in row.linear.items() if i not in self.zero and j not in self.zero}
        if row.lower != 0 and terms:
            terms[int(self.place[j])] = -row.lower * self.scale[j]
        return terms, 0.0, 0.0

    def _blocks(self, n_forms):
        start, first, second, value, defect = [0], [], [], [], []
        columns = [self.n + len(self.products) + k for k in range(n_forms)] + self.form_columns
        for form, size in self.forms:
            check(self.lifting.stop)
            for (i, j), a in form.items():
                entry = a * self.scale[i] * self.scale[j] / size
                for p, q in [(i, j)] if i == j else [(i, j), (j, i)]:
                    first.append(self.place[p])
                    second.append(self.place[q])
                    value.append(entry if i == j else 0.5 * entry)
            start.append(len(value))
            scaled = {(i, j): a * self.scale[i] * self.scale[j] / size for (i, j), a in form.items()}
            defect.append(convexity_defect(scaled))
        return {
            "block_column": columns, "block_start": start, "block_i": first, "block_j": second,
            "block_value": value, "block_defect": defect,
        }  # fmt: skip

    def _lifted(self, inequalities):
        start, variable, product, value, constant, kept = [0], [], [], [], [], []
        for factor, bound, j, side in inequalities:
            check(self.lifting.stop)
            # its distances from a bound are 0, and so are the rows of one that is fixed at 0
            terms = {i: a * self.scale[i] for i, a in factor.items() if i not in self.zero}
            if not terms or j in self.zero:
                continue
            kept.append((j, side))
            size = _power(max(abs(a) for a in terms.values()))
            for i, a in terms.items():
                variable.append(self.place[i])
                product.append(self.products[_ordered((i, j))])
                value.append(a / size)
            constant.append(bound / size)
            start.append(len(value))
        return {
            "lift_start": start, "lift_variable": variable, "lift_product": product, "lift_value": value,
            "lift_constant": constant, "lift_factor": [self.place[j] for j, _ in kept],
            "lift_side": [side for _, side in kept],
        }  # fmt: skip

    def _moments(self, moments):
        start = np.cumsum([0] + [len(members) for members in moments])
        matrix_start = np.cumsum([0] + [len(members) ** 2 for members in moments])
        return {
            "moment_start": start, "moment_variable": [self.place[i] for members in moments for i in members],
            "moment_matrix": matrix_start,
            "moment_product": [
                self.products[_ordered((i, j))] for members in moments for i in members for j in members
            ],
        }  # fmt: skip

    def _directions(self, rows, fields, lifts):
        """From which side each product column must be bounded: the others' rows are left out."""
        n_products = len(self.products)
        under, over = np.zeros(n_products, bool), np.zeros(n_products, bool)
        for number, (terms, lower, upper) in enumerate(rows):
            check(self.lifting.stop)
            last = number == len(rows) - 1
            for column, a in terms.items():
                if self.n <= column < self.n + n_products:
                    falls, rises = (upper < math.inf or last), lower > -math.inf
                    under[column - self.n] |= falls if a > 0 else rises
                    over[column - self.n] |= rises if a > 0 else falls
        # a lifted row is sum a w >= ... at a lower bound, and the reverse at an upper
        for t, side in enumerate(fields["lift_side"]):
            for e in range(fields["lift_start"][t], fields["lift_start"][t + 1]):
                grows = (fields["lift_value"][e] > 0) == (side == 0)
                (over if grows else under)[fields["lift_product"][e]] = True
        # Semidefinite cuts need squares bounded from above; products that only they have must be bounded at all.
        for members in lifts.moments:
            for a, i in enumerate(members):
                for j in members[a:]:
                    k = self.products[i, j]
                    if i == j or (k >= lifts.n_own and len(members) <= MOST_WITH_ALL_ROWS):
                        under[k] = over[k] = True
        return {"under": under, "over": over}


def _size_at(side, points):
    """How far a side is from 0, in units of its terms."""
    terms = points[..., list(side.linear)] * np.array(list(side.linear.values()))
    largest = np.maximum(abs(terms).max(axis=-1), abs(side.constant))
    return abs(terms.sum(axis=-1) + side.constant) / np.where(largest > 0, largest, 1.0)


def _ordered(pair):
    return (pair[0], pair[1]) if pair[0] <= pair[1] else (pair[1], pair[0])


def _power(x):
    """Return the power of two at or below x."""
    return 2.0 ** math.floor(math.log2(x)) if x > 0 else 1.0


def _size(terms):
    """Return the power of two that leaves a row's greatest coefficient from 1 to 2."""
    return _power(max(abs(a) for a in terms.values()))


def _scaled(terms, lower, upper, size):
    return {column: a / size for column, a in terms.items()}, lower / size, upper / size


def _with_columns(row, first_atom):
    """Return a row with the columns of atoms, which come behind those of forms, in place of their numbers."""
    terms, *limits = row
    return {first_atom + key[1] if isinstance(key, tuple) else key: a for key, a in terms.items()}, *limits


def _csr(rows):
    start = np.cumsum([0] + [len(terms) for terms, *_ in rows])
    return {
        "row_start": start,
        "row_index": [column for terms, *_ in rows for column in terms],
        "row_value": [a for terms, *_ in rows for a in terms.values()],
        "row_lower": [lower for _, lower, _ in rows],
        "row_upper": [upper for *_, upper in rows],
    }


def _csr_rows(A, lower, upper):
    start, index, value = A.indptr.tolist(), A.indices.tolist(), A.data.tolist()
    for i, bounds in enumerate(zip(lower.tolist(), upper.tolist(), strict=True)):
        part = slice(start[i], start[i + 1])
        yield dict(zip(index[part], value[part], strict=True)), *bounds
