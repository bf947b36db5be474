"""
Local solutions of a biconvex problem: by Ipopt where cyipopt is installed, else `sequential_quadratic` or `interior`.

All functions are quadratic but for atoms, v - f(u) = 0, each a row; derivatives are exact. What is found is a
point to start from and nothing more: it is settled and valued as any other.
"""

import functools
import warnings

import numpy as np
from scipy import sparse

from gopfast.biconvex import atoms
from gopfast.biconvex.interruption import Stopped, check
from gopfast.biconvex.problem import terms_of
from gopfast.biconvex.sequential_quadratic import minimize, one_sided
from gopfast.biconvex.tuning import (
    BARRIER_START,
    HELD_WITHIN as NEAR,
    LARGEST_DERIVATIVE as LARGEST,
    MOST_DENSE,
    MOST_ITERATIONS,
    NEWTON_STEPS,
    NONLINEAR_TOLERANCE as TOLERANCE,
    SADDLE_STEP,
    WIDEST,
)


class NonlinearProgram:
    """
    A problem over a box, scaled.

    Parameters
    ----------
    problem : BiconvexProblem
    low, high : ndarray, shape (n,)
        The box, in the user's units and order; infinite bounds may remain.
    scale : ndarray, shape (n,)
        Of the variables: user = scale * own.
    stop : StopSignal
        Ends a search from a point, which then finds nothing.
    """

    def __init__(self, problem, low, high, scale, stop):
        self.stop, self.scale, self.n, self.atoms = stop, scale, problem.n_variables, problem.atoms
        self.low, self.high = low / scale, high / scale
        sign = -1.0 if problem.sense == "max" else 1.0
        rows = [(problem.Q * sign, problem.c * sign, -np.inf, np.inf), *problem.quadratic_rows]
        lower, upper = (np.append(-np.inf if side else np.inf, ends) for side, ends in enumerate(problem.row_bounds))
        lower[0], upper[0] = -np.inf, np.inf
        linear = sparse.csr_array(np.vstack([rows[0][1], *(row[1] for row in rows[1:])]))
        # in the order of the problem's rows, the objective first
        values = sparse.csr_array(
            (np.ones(len(self.atoms)), (range(len(self.atoms)), [atom.value for atom in self.atoms])),
            shape=(len(self.atoms), self.n),
        )  # fmt: skip
        lower, upper = (np.append(ends, np.zeros(len(self.atoms))) for ends in (lower, upper))
        linear = sparse.vstack([linear[:1], problem.A, linear[1:], values], format="csr") @ sparse.diags_array(scale)
        at = [0, *range(1 + problem.A.shape[0], 1 + problem.n_rows)]
        parts = [terms_of(row[0]) for row in rows]
        number = np.concatenate([np.full(len(part[0]), k) for k, part in zip(at, parts, strict=True)])
        i, j, value = (np.concatenate([part[p] for part in parts]) for p in range(3))
        value = value * scale[i] * scale[j]
        size = np.maximum(abs(linear).max(axis=1).toarray().ravel(), 0.0)
        np.maximum.at(size, number, np.abs(value))
        size[size == 0] = 1.0
        self.linear = sparse.csr_array(sparse.diags_array(1.0 / size) @ linear)
        self.number, self.i, self.j, self.value = number, i, j, value / size[number]
        self.lower, self.upper = lower[1:] / size[1:], upper[1:] / size[1:]
        self.first_atom = len(lower) - len(self.atoms)
        self.atom_factor = -1.0 / size[self.first_atom :]
        self._evaluated = None

    @property
    def n_rows(self):
        """Without the objective; atoms come last."""
        return len(self.lower)

    def functions(self, x):
        """Value, first and second derivative of what atoms subtract, as their rows are scaled: shape (atoms, 3)."""
        found = np.array([
            atoms.derivatives(atom.function, atom.exponent, self.scale[atom.argument] * x[atom.argument])
            for atom in self.atoms
        ]).reshape(-1, 3)  # fmt: skip
        chain = self.scale[[atom.argument for atom in self.atoms]][:, np.newaxis] ** np.arange(3) if self.atoms else 1.0
        # where a function has no derivative, at the end of its domain
        return np.nan_to_num(found * chain, posinf=LARGEST, neginf=-LARGEST) * self.atom_factor[:, np.newaxis]

    def values(self, x):
        """Objective and rows: shape (1 + n_rows,)."""
        check(self.stop)
        found = self.linear @ x + np.bincount(self.number, self.value * x[self.i] * x[self.j], 1 + self.n_rows)
        if self.atoms:
            found[self.first_atom :] += self.functions(x)[:, 0]
        return found

    def jacobian(self, x):
        """Gradients of the objective and the rows, dense: shape (1 + n_rows, n)."""
        check(self.stop)
        size = (1 + self.n_rows) * self.n
        flat = np.bincount(self.number * self.n + self.i, self.value * x[self.j], size)
        flat += np.bincount(self.number * self.n + self.j, self.value * x[self.i], size)
        found = flat.reshape(-1, self.n) + self.dense
        if self.atoms:
            rows = range(self.first_atom, 1 + self.n_rows)
            found[rows, [atom.argument for atom in self.atoms]] += self.functions(x)[:, 1]
        return found

    def hessian(self, x, factor, multipliers):
        """Of factor times the objective and multipliers times the rows, at a point where there are atoms."""
        return _hessian(self, x, factor, multipliers)

    def dense_hessian(self, x, factor, multipliers):
        """Return the same as an array, shape (n, n)."""
        weight, n = np.append(factor, multipliers)[self.number] * self.value, self.n
        places = np.concatenate([self.i * n + self.j, self.j * n + self.i])
        found = np.bincount(places, np.concatenate([weight, weight]), n * n).reshape(n, n)
        if self.atoms:
            bends = multipliers[self.first_atom - 1 :] * self.functions(x)[:, 2]
            of = [atom.argument for atom in self.atoms]
            np.add.at(found, (of, of), bends)
        return found

    @functools.cached_property
    def dense(self):
        """The linear terms, shape (1 + n_rows, n)."""
        return self.linear.toarray()

    def search(self, point, near=True):
        """
        Look for a local solution.

        Parameters
        ----------
        point : ndarray, shape (n,)
            Where to start, in the user's units.
        near : bool, optional
            Whether it matters that the search ends near the point.

        Returns
        -------
        ndarray, shape (n,), or None
            Within the box. It need not meet the rows. None: nothing was found, or the search ran off.
        """
        x = np.clip(np.nan_to_num(point / self.scale), self.low, self.high)
        try:
            with np.errstate(over="ignore", invalid="ignore"), warnings.catch_warnings():
                # of a singular Jacobian, or a step of 0: what is found is only a point to start from
                warnings.simplefilter("ignore")
                find = _solver()
                found = (find if near or find is not _own else _by_barriers_and_steps)(self, x)
        except (Stopped, ArithmeticError, np.linalg.LinAlgError):
            return None
        if found is None or not np.isfinite(found).all():
            return None
        found = np.clip(found, self.low, self.high) * self.scale
        # where nothing bounds the objective searches run off, to where nothing can be computed
        return found if np.abs(found).max(initial=0.0) <= WIDEST else None

    def polish(self, point):
        """
        Newton's steps for the rows and bounds that hold a point and the gradient of the Lagrangian.

        Parameters
        ----------
        point : ndarray, shape (n,)
            Nearly a local solution, in the user's units.

        Returns
        -------
        list of ndarray, shape (n,)
            Points, better or not; none where the system is too large.
        """
        x = point / self.scale
        values = self.values(x)[1:]
        size = np.maximum(1.0, np.abs(values))
        near = [np.abs(values - ends) <= NEAR * size for ends in (self.lower, self.upper)]
        held = np.flatnonzero(near[0] | near[1])
        target = np.where(near[0], self.lower, self.upper)[held]
        free = np.flatnonzero((x > self.low + NEAR) & (x < self.high - NEAR))
        if len(held) + len(free) > MOST_DENSE or not free.size:
            return []
        found = []
        for _ in range(NEWTON_STEPS):
            slopes, k = self.jacobian(x), len(free)
            rows = slopes[1:][np.ix_(held, free)]
            y = np.linalg.lstsq(rows.T, slopes[0, free], rcond=None)[0]
            multipliers = np.zeros(self.n_rows)
            multipliers[held] = -y
            system = np.zeros((k + len(held),) * 2)
            system[:k, :k] = _hessian(self, x, 1.0, multipliers)[free][:, free].toarray()
            system[:k, k:], system[k:, :k] = rows.T, rows
            right = np.concatenate([rows.T @ y - slopes[0, free], target - self.values(x)[1:][held]])
            x = x.copy()
            x[free] += np.linalg.lstsq(system, right, rcond=None)[0][:k]
            x = np.clip(x, self.low, self.high)
            found.append(x * self.scale)
        return found


@functools.cache
def _solver():
    try:
        import cyipopt  # noqa: F401
    except ImportError:
        return _own
    return _by_ipopt


def _own(program, x):
    """By quadratic programs, which are dense, where it is small; elsewhere, and where they miss rows, by barriers."""
    if _is_small(program):
        found = _by_steps(program, x)
        if _value(program, found) < np.inf:
            return found
    return _by_barriers(program, x)


def _is_small(program):
    return program.n + program.n_rows <= MOST_DENSE and (program.lower == program.upper).sum() <= program.n


def _value(program, x):
    """Objective of a point; inf where it is none, or misses a row."""
    if x is None or not np.isfinite(x).all():
        return np.inf
    values = program.values(x)
    met = (np.maximum(program.lower - values[1:], values[1:] - program.upper) <= NEAR).all()
    return values[0] if met else np.inf


def _by_barriers_and_steps(program, x):
    """By barriers, which may end in a saddle, and from a point beside it by quadratic programs, where it is small."""
    found = _by_barriers(program, x)
    if not _is_small(program) or found is None or not np.isfinite(found).all():
        return found
    aside = SADDLE_STEP * np.random.default_rng(0).normal(size=program.n) * np.maximum(1.0, np.abs(found))
    other = _by_steps(program, np.clip(found + aside, program.low, program.high))
    return other if _value(program, other) < _value(program, found) else found


def _by_barriers(program, x):
    # Here and not above: few first solves of a process need it.
    from gopfast.biconvex.interior import InteriorPoint

    return InteriorPoint(program, x).search()


def _by_steps(program, x):
    rows, signs, ends, n_equal = one_sided(program.lower, program.upper)
    objective = np.append(0, 1 + rows)
    signs, ends = np.append(1.0, signs), np.append(0.0, ends)
    return minimize(
        lambda z: signs * (program.values(z)[objective] - ends),
        lambda z: signs[:, np.newaxis] * program.jacobian(z)[objective],
        x, program.low, program.high, n_equal, MOST_ITERATIONS, TOLERANCE,
    )  # fmt: skip


def _hessian(program, x, factor, multipliers):
    """Of factor times the objective and multipliers times the rows."""
    weight = np.append(factor, multipliers)[program.number] * program.value
    pairs = np.concatenate([program.i, program.j]), np.concatenate([program.j, program.i])
    found = sparse.csr_array((np.concatenate([weight, weight]), pairs), shape=(program.n, program.n))
    if not program.atoms:
        return found
    bends = multipliers[program.first_atom - 1 :] * program.functions(x)[:, 2]
    places = [atom.argument for atom in program.atoms]
    return found + sparse.csr_array((bends, (places, places)), shape=(program.n, program.n))


def _by_ipopt(program, x):
    import cyipopt

    solver = cyipopt.Problem(
        n=program.n, m=program.n_rows, problem_obj=_ForIpopt(program), lb=program.low, ub=program.high,
        cl=program.lower, cu=program.upper,
    )  # fmt: skip
    for option, value in (
        ("print_level", 0), ("sb", "yes"), ("max_iter", MOST_ITERATIONS), ("tol", TOLERANCE),
        ("constr_viol_tol", TOLERANCE), ("bound_relax_factor", 0.0), ("mu_init", BARRIER_START),
    ):  # fmt: skip
        solver.add_option(option, value)
    found, _ = solver.solve(x)
    return found


class _ForIpopt:
    """The program under the names that cyipopt asks for."""

    def __init__(self, program):
        self.program = program
        own = program.number > 0
        rows = np.concatenate([program.number[own], program.number[own]]) - 1
        columns = np.concatenate([program.i[own], program.j[own]])
        linear = program.linear[1:].tocoo()
        self.arguments = np.array([atom.argument for atom in program.atoms], int)
        of_atoms = np.arange(program.first_atom - 1, program.n_rows) * program.n + self.arguments
        keys = np.concatenate([rows * program.n + columns, linear.row * program.n + linear.col, of_atoms])
        self.keys, self.place = np.unique(keys, return_inverse=True)
        self.own, self.constant = own, linear.data
        low, high = np.minimum(program.i, program.j), np.maximum(program.i, program.j)
        pairs = np.concatenate([high * program.n + low, self.arguments * program.n + self.arguments])
        self.pairs, self.pair = np.unique(pairs, return_inverse=True)

    def objective(self, x):
        return self.program.values(x)[0]

    def constraints(self, x):
        return self.program.values(x)[1:]

    def gradient(self, x):
        program = self.program
        own = ~self.own
        gradient = np.bincount(program.i[own], program.value[own] * x[program.j[own]], program.n)
        gradient += np.bincount(program.j[own], program.value[own] * x[program.i[own]], program.n)
        return gradient + program.linear[:1].toarray().ravel()

    def jacobianstructure(self):
        return np.divmod(self.keys, self.program.n)

    def jacobian(self, x):
        program, own = self.program, self.own
        value = program.value[own]
        entries = np.concatenate([value * x[program.j[own]], value * x[program.i[own]], self.constant,
                                  program.functions(x)[:, 1]])  # fmt: skip
        return np.bincount(self.place, entries, len(self.keys))

    def hessianstructure(self):
        return np.divmod(self.pairs, self.program.n)

    def hessian(self, x, multipliers, factor):
        program = self.program
        weight = np.append(factor, multipliers)[program.number] * program.value
        bends = multipliers[program.first_atom - 1 :] * program.functions(x)[:, 2]
        # a square has its second derivative on the diagonal twice its coefficient
        entries = np.concatenate([np.where(program.i == program.j, 2.0, 1.0) * weight, bends])
        return np.bincount(self.pair, entries, len(self.pairs))

    def intermediate(self, *_):
        return not self.program.stop.stopped
