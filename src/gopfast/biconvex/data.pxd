"""A biconvex problem as the core holds it, and bounds of its variables from its rows."""

from gopfast.search.types cimport index, real

cdef class BiconvexData:
    # Columns: variables z (n), products w (P), convex forms q (K), functions of a variable (T).
    cdef readonly int n, n_products, n_forms, n_atoms, n_blocks, n_cols, n_rows, n_own_rows, n_split, n_lifted
    cdef readonly real constant
    cdef int[::1] first, second         # (P,) factors of each product
    cdef int[::1] under, over           # (P,) whether w is bounded from below, from above, in the relaxed dual
    cdef int[::1] own                   # (P,) whether the problem has the product; else only lifted rows do
    cdef real[::1] cost                 # (n_cols,)
    # Rows: the problem's own, lifted equations, and last the objective without its constant
    cdef int[::1] row_start, row_index
    cdef real[::1] row_value, row_lower, row_upper
    # (n_own_rows,) what violations are relative to: at least; and at most, those of the lower and of the upper bound
    cdef real[::1] row_floor, most_below, most_above
    cdef int[:, ::1] fixed              # (2, n) what makes every product of the problem linear where it is fixed
    cdef int[::1] block_column          # (K,) column that is at least z'Qz
    cdef int[::1] block_start, block_i, block_j     # Q, both triangles
    cdef real[::1] block_value, block_defect        # Q is convex but for -defect * |z|^2
    cdef int[::1] atom_function, atom_argument      # (T,) of `atoms`, and the variable u
    # (T,) the column is f(argument_scale u) / value_scale, both powers of two
    cdef real[::1] atom_exponent, atom_argument_scale, atom_value_scale
    cdef int[::1] lift_start, lift_variable, lift_product   # rows (b + a'z) (z_j - l_j) >= 0 or (u_j - z_j)
    cdef int[::1] lift_factor, lift_side            # z_j; 0: its lower bound, 1: its upper
    cdef real[::1] lift_value, lift_constant
    # Switches: the first variables, in [-1, 1]. Where one is at most 0 its first side vanishes, at least 0 the second:
    # a variable does, or a row takes a value; -1 for what it is not
    cdef readonly int n_switches
    cdef int[::1] switch_variable, switch_row       # (2 n_switches,)
    cdef real[::1] switch_value
    # Sets of variables all of whose products have columns: the members, and the products as square matrices
    cdef readonly int n_moments
    cdef int[::1] moment_start, moment_variable, moment_matrix, moment_product
    cdef real[::1] low, high            # (n,)

    cdef real objective(self, const real *z) noexcept nogil
    cdef real objective_error(self, const real *z) noexcept nogil
    cdef real row_activity(self, int row, const real *z, real *size) noexcept nogil
    cdef real greatest_term(self, int row, const real *z) noexcept nogil
    cdef real row_size(self, int row, const real *z) noexcept nogil
    cdef real precise_activity(self, int row, const real *z, real *error) noexcept nogil
    cdef real row_excess(self, int row, const real *z) noexcept nogil
    cdef real violation(self, const real *z) noexcept nogil
    cdef real excess_of_terms(self, const real *z) noexcept nogil
    cdef void clip(self, real *z) noexcept nogil
    cdef real add_gradient(self, int row, const real *z, real *gradient) noexcept nogil
    cdef real block_at(self, int block, const real *z) noexcept nogil
    cdef real block_size(self, int block, const real *z) noexcept nogil
    cdef int own_block(self, int column) noexcept nogil
    cdef int atom_of(self, int column) noexcept nogil
    cdef real atom_at(self, int atom, const real *z) noexcept nogil
    cdef real atom_slope(self, int atom, const real *z) noexcept nogil
    cdef void atom_range(self, int atom, real low, real high, real *least, real *most) noexcept nogil
    cdef int propagate_atom(self, int atom, real *col_low, real *col_high, real *change) noexcept nogil
    cdef bint is_square(self, int block) noexcept nogil
    cdef bint presses(self, int block) noexcept nogil
    cdef void block_gradient(self, int block, const real *z, real *gradient) noexcept nogil
    cdef void column_bounds(self, const real *low, const real *high, real *col_low, real *col_high) noexcept nogil
    cdef int propagate(self, real *low, real *high, real cutoff, int n_rounds, real *col_low,
                       real *col_high) noexcept nogil
    cdef int propagate_switch(self, int k, real *col_low, real *col_high, real *change) noexcept nogil
    cdef int vanish(self, int side, real *col_low, real *col_high, real *change) noexcept nogil
    cdef bint can_vanish(self, int side, const real *col_low, const real *col_high) noexcept nogil
    cdef int propagate_row(self, int row, real row_lower, real row_upper, real *col_low, real *col_high,
                           real *change) noexcept nogil
    cdef int propagate_block(self, int block, real *col_low, real *col_high, real *change) noexcept nogil
    cdef int propagate_product(self, int product, real *col_low, real *col_high, real *change) noexcept nogil
