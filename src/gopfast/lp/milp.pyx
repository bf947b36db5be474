"""The bound combination with the least bound, selected by one mixed-integer program in HiGHS.

The program is a node's linear program, with one binary variable per connected variable for the half of its interval,
and the rows of each half, relaxed by a large constant unless that half is chosen. Its optimum is the least of the
2^|I_c| relaxed dual subproblems, its binaries the combination (Visweswaran & Floudas 1996).

Nothing is proved here. HiGHS gives no certificate of a mixed-integer optimum, and its tolerances are multiplied by the
large constants. So the combination alone is used, as the order in which the node is divided; every box that this makes
is bounded by a linear program of its own, see ``Tree.selected``. Any combination would do.

Theory: (G6) of docs/theory/gop.md.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.string cimport memcpy

from gopfast.lp.highs cimport highs, load_api, run_highs
from gopfast.lp.lp cimport LpWorker, answer_interrupt
from gopfast.lp.tuning cimport MOST_NODES
from gopfast.search.types cimport LP_FAILED, NO_MEMORY, OK, real

cdef enum:
    MIP_INTERRUPT = 6           # kind of callback
    ROW_WISE = 2
    MINIMISE = 1
    SOLUTION_FEASIBLE = 2       # HiGHS's status of a primal solution


cdef class MilpWorker:
    """Mixed-integer programs of one thread.

    Parameters
    ----------
    n_cols : int
        Columns of the linear programs.
    n_choices : int
        Connected variables: binary columns behind them.
    """

    def __init__(self, int n_cols, int n_choices):
        load_api()
        self.n_cols, self.n_choices = n_cols, n_choices
        self.cost, self.x = np.zeros(n_cols + n_choices), np.zeros(n_cols + n_choices)
        self.col_lower, self.col_upper = np.zeros(n_cols + n_choices), np.ones(n_cols + n_choices)
        self.integrality = np.repeat([0, 1], [n_cols, n_choices]).astype(np.intc)

    # Life: on the thread that solves, as of LpWorker

    cdef int open(self, LpWorker lp) noexcept nogil:
        self.solver = highs.create()
        if self.solver == NULL:
            return NO_MEMORY
        if (highs.set_bool(self.solver, b"output_flag", 0) != 0
                or highs.set_string(self.solver, b"parallel", b"off") != 0
                or highs.set_int(self.solver, b"threads", 1) != 0
                or highs.set_int(self.solver, b"mip_max_nodes", MOST_NODES) != 0
                or highs.set_callback(self.solver, answer_interrupt, <void *> lp) == -1
                or highs.start_callback(self.solver, MIP_INTERRUPT) == -1):
            self.close()
            return LP_FAILED
        # With a handful of binaries these cost more than they find; an older HiGHS has not all of them.
        highs.set_bool(self.solver, b"mip_heuristic_run_feasibility_jump", 0)
        highs.set_bool(self.solver, b"mip_heuristic_run_rins", 0)
        highs.set_bool(self.solver, b"mip_heuristic_run_rens", 0)
        highs.set_bool(self.solver, b"mip_heuristic_run_root_reduced_cost", 0)
        return OK

    cdef void close(self) noexcept nogil:
        if self.solver != NULL:
            highs.destroy(self.solver)
        self.solver = NULL

    cdef int load(self, LpWorker lp) noexcept nogil:
        if self.solver == NULL or lp.n_cols != self.n_cols:
            return LP_FAILED
        memcpy(&self.cost[0], lp.cost, self.n_cols * sizeof(real))
        memcpy(&self.col_lower[0], lp.col_lower, self.n_cols * sizeof(real))
        memcpy(&self.col_upper[0], lp.col_upper, self.n_cols * sizeof(real))
        if highs.pass_mip(self.solver, self.n_cols + self.n_choices, lp.n_rows, lp.nnz, ROW_WISE, MINIMISE, 0.0,
                          &self.cost[0], &self.col_lower[0], &self.col_upper[0], lp.row_lower, lp.row_upper,
                          lp.row_start, lp.col_index, lp.value, &self.integrality[0]) == -1:
            return LP_FAILED
        return OK

    cdef int add_rows(self, int n, const real *lower, const real *upper, int nnz, const int *start,
                      const int *col_index, const real *value) noexcept nogil:
        return OK if highs.add_rows(self.solver, n, lower, upper, nnz, start, col_index, value) != -1 else LP_FAILED

    cdef int solve(self, real seconds) noexcept nogil:
        """OK: x holds a combination that meets the rows within HiGHS's tolerances, the best or nearly so."""
        cdef int status = 0
        # HiGHS adds up the time of its runs.
        if seconds < INFINITY and highs.set_double(self.solver, b"time_limit",
                                                   highs.run_time(self.solver) + max(seconds, 0.0)) == -1:
            return LP_FAILED
        if (run_highs(self.solver) == -1
                or highs.get_int_info(self.solver, b"primal_solution_status", &status) == -1
                or status != SOLUTION_FEASIBLE
                or highs.get_solution(self.solver, &self.x[0], NULL, NULL, NULL) == -1):
            return LP_FAILED
        return OK

    cdef void selection(self, const real *importance, int *choice) noexcept nogil:
        cdef int count = 0, position, j
        for j in range(self.n_choices):
            if not importance[j] >= 0:  # also NaN
                continue
            position = count
            while position > 0 and importance[abs(choice[position - 1]) - 1] < importance[j]:
                choice[position] = choice[position - 1]
                position -= 1
            choice[position] = j + 1 if self.x[self.n_cols + j] > 0.5 else -(j + 1)
            count += 1
        if count < self.n_choices:
            choice[count] = 0
