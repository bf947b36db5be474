"""gopfast as a solver of Pyomo models; needs pyomo, which ``pip install gopfast[pyomo]`` brings.

Importing this module registers the solver::

    import gopfast.pyomo
    pyomo.environ.SolverFactory("gopfast").solve(model, tee=True)

Linear, bilinear and quadratic terms of continuous variables are taken as Pyomo's standard representation gives them.
"""

import math

import numpy as np
from pyomo.core import Constraint, Objective, SOSConstraint, Var, minimize, value
from pyomo.core.expr.visitor import identify_variables
from pyomo.opt import SolverFactory, SolverResults, SolverStatus, TerminationCondition
from pyomo.repn import generate_standard_repn

from gopfast import __version__
from gopfast.biconvex.problem import BiconvexProblem
from gopfast.errors import InputError
from gopfast.result import Status
from gopfast.solver import solve

# What Pyomo's users look at: why the solver ended.
CONDITIONS = {
    Status.OPTIMAL: (SolverStatus.ok, TerminationCondition.optimal),
    Status.INFEASIBLE: (SolverStatus.ok, TerminationCondition.infeasible),
    Status.UNBOUNDED: (SolverStatus.ok, TerminationCondition.unbounded),
    Status.TIME_LIMIT: (SolverStatus.ok, TerminationCondition.maxTimeLimit),
    Status.NODE_LIMIT: (SolverStatus.ok, TerminationCondition.maxIterations),
    Status.MEMORY_LIMIT: (SolverStatus.aborted, TerminationCondition.resourceInterrupt),
    Status.INTERRUPTED: (SolverStatus.aborted, TerminationCondition.userInterrupt),
}
OTHERWISE = (SolverStatus.warning, TerminationCondition.other)


@SolverFactory.register("gopfast", doc="Proved global optima of bilinear and convex quadratic problems")
class GopfastSolver:
    """
    The solver that ``SolverFactory("gopfast")`` returns.

    Parameters
    ----------
    options : dict, optional
        Arguments of `gopfast.solve`, for every call of `solve`.

    Attributes
    ----------
    options : dict
        As given; entries may be set.
    result : BiconvexResult or None
        Of the last call.
    """

    def __init__(self, options=None, **_):
        self.options = dict(options or {})
        self.result = None

    def available(self, exception_flag=True) -> bool:
        """Whether the solver can be called: where this module can be imported it can."""
        return True

    def license_is_valid(self) -> bool:
        """Whether it may be used: no license is asked for."""
        return True

    def version(self) -> tuple:
        """Version of gopfast, as Pyomo's four numbers."""
        numbers = tuple(int(part) for part in __version__.split(".") if part.isdigit())
        return (numbers + (0, 0, 0, 0))[:4]

    def __enter__(self):
        """Return itself; there is nothing to open."""
        return self

    def __exit__(self, *error):
        """Do nothing; there is nothing to close."""

    def solve(self, model, tee=False, timelimit=None, load_solutions=True, options=None, **_) -> SolverResults:
        """
        Solve a model and load its solution.

        Parameters
        ----------
        model : pyomo.environ.Block
            A concrete model with one active objective.
        tee : bool
            Whether to print the log.
        timelimit : float, optional
            Seconds.
        load_solutions : bool
            Whether the variables get the values of the solution, where there is one.
        options : dict, optional
            Arguments of `gopfast.solve`, before those of the solver.

        Returns
        -------
        SolverResults
            ``problem.lower_bound`` and ``upper_bound`` are proved bounds of the optimum; ``solver.status``,
            ``termination_condition`` and ``message`` say what ended the search.

        Raises
        ------
        InputError
            If the model is outside the class; the message names the part. Nothing has been solved then.
        """
        translation = _Translation(model)
        arguments = {**self.options, **(options or {})}
        if timelimit is not None:
            arguments["time_limit"] = timelimit
        if tee:
            arguments["log"] = True
        self.result = result = solve(translation.problem, **arguments)
        if load_solutions and result.solution is not None:
            for variable, number in zip(translation.variables, result.solution.z.tolist(), strict=True):
                variable.set_value(number, skip_validation=True)
        return _record(result, translation)


class _Translation:
    """A Pyomo model as a `BiconvexProblem`, and the variables in its order."""

    def __init__(self, model):
        self.variables, self.index = [], {}
        objectives = list(model.component_data_objects(Objective, active=True))
        if len(objectives) != 1:
            raise InputError(f"model must have one active objective; {model.name!r} has {len(objectives)}")
        for _ in model.component_data_objects(SOSConstraint, active=True):
            raise InputError("special ordered sets are not supported")
        (objective,) = objectives
        parts = [(objective.expr, objective.name)]
        constraints = list(model.component_data_objects(Constraint, active=True, descend_into=True))
        parts += [(constraint.body, constraint.name) for constraint in constraints]
        # in the order of the model; its variables first, then those of elsewhere
        used = {id(v): v for body, _ in parts if body is not None for v in _free(body)}
        own = [v for v in model.component_data_objects(Var) if id(v) in used]
        known = {id(v) for v in own}
        for variable in own + [v for key, v in used.items() if key not in known]:
            if not variable.is_continuous():
                raise InputError(f"variable {variable.name!r} is not continuous")
            self.index[id(variable)] = len(self.variables)
            self.variables.append(variable)
        if not self.variables:
            raise InputError(f"model {model.name!r} has no variables that are not fixed")
        constant, c, Q = self._terms(*parts[0])
        rows, row_lower, row_upper, quadratic = [], [], [], []
        for constraint, part in zip(constraints, parts[1:], strict=True):
            shift, a, form = self._terms(*part)
            lower = -math.inf if constraint.lower is None else value(constraint.lower) - shift
            upper = math.inf if constraint.upper is None else value(constraint.upper) - shift
            if form is None:
                rows.append(a)
                row_lower.append(lower)
                row_upper.append(upper)
            else:
                quadratic.append((form, a, lower, upper))
        linear = {"A": np.array(rows), "row_lower": row_lower, "row_upper": row_upper} if rows else {}
        self.problem = BiconvexProblem(
            c,
            Q=Q,
            **linear,
            quadratic_rows=quadratic,
            lower=[-math.inf if v.lb is None else v.lb for v in self.variables],
            upper=[math.inf if v.ub is None else v.ub for v in self.variables],
            sense="min" if objective.sense == minimize else "max",
            constant=constant,
            names=_unlike([v.name for v in self.variables]),
            name=str(model.name),
        )

    def _terms(self, body, name):
        """Return constant, linear coefficients (n,) and products (n, n), None if there are none."""
        form = generate_standard_repn(body, quadratic=True, compute_values=True)
        if form.nonlinear_expr is not None:
            raise InputError(f"{name!r} has a term that is neither linear nor quadratic: {form.nonlinear_expr}")
        n = len(self.variables)
        a = np.zeros(n)
        for variable, coefficient in zip(form.linear_vars, form.linear_coefs, strict=True):
            a[self.index[id(variable)]] += coefficient
        if not form.quadratic_vars:
            return float(form.constant), a, None
        Q = np.zeros((n, n))
        for (first, second), coefficient in zip(form.quadratic_vars, form.quadratic_coefs, strict=True):
            Q[self.index[id(first)], self.index[id(second)]] += coefficient
        return float(form.constant), a, Q


def _free(body):
    """Variables of an expression that are not fixed."""
    return identify_variables(body, include_fixed=False)


def _unlike(names):
    """Names without repetition: variables of different models may share one."""
    return names if len(set(names)) == len(names) else [f"{name}#{i}" for i, name in enumerate(names)]


def _record(result, translation):
    """Return what Pyomo's interfaces return."""
    record = SolverResults()
    problem = translation.problem
    record.problem.name = problem.name
    record.problem.sense = "minimize" if problem.sense == "min" else "maximize"
    record.problem.number_of_variables = problem.n_variables
    record.problem.number_of_constraints = problem.n_rows
    record.problem.lower_bound, record.problem.upper_bound = result.lower_bound, result.upper_bound
    record.solver.name = "gopfast"
    record.solver.status, record.solver.termination_condition = CONDITIONS.get(result.status, OTHERWISE)
    record.solver.message = repr(result)
    record.solver.wallclock_time = result.time
    return record
