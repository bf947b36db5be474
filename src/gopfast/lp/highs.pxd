"""The HiGHS C API: one struct of function pointers, filled on first use. HighsInt is int."""

ctypedef struct CallbackIn:
    int user_interrupt

ctypedef void (*Callback)(int kind, const char* message, const void* out, CallbackIn* answer,
                          void* user) noexcept nogil

# Unless noted, functions return -1 for an error, 0 for success and 1 for a warning.
cdef struct HighsApi:
    void* (*create)() noexcept nogil
    void (*destroy)(void*) noexcept nogil
    const char* (*version)() noexcept nogil
    int (*sizeof_int)(const void*) noexcept nogil
    int (*set_bool)(void*, const char* option, int) noexcept nogil
    int (*set_int)(void*, const char* option, int) noexcept nogil
    int (*set_double)(void*, const char* option, double) noexcept nogil
    int (*set_string)(void*, const char* option, const char*) noexcept nogil
    # layout: 1 column-wise, 2 row-wise; sense: 1 minimise; start has no final entry
    int (*pass_lp)(void*, int n_cols, int n_rows, int nnz, int layout, int sense, double offset,
                   const double* cost, const double* col_lower, const double* col_upper,
                   const double* row_lower, const double* row_upper,
                   const int* start, const int* index, const double* value) noexcept nogil
    # as pass_lp; integrality: one entry per column, 0 continuous, 1 integer
    int (*pass_mip)(void*, int n_cols, int n_rows, int nnz, int layout, int sense, double offset,
                    const double* cost, const double* col_lower, const double* col_upper,
                    const double* row_lower, const double* row_upper,
                    const int* start, const int* index, const double* value, const int* integrality) noexcept nogil
    # H of 0.5 x'Hx; layout: 1 lower triangle by columns; start has no final entry
    int (*pass_hessian)(void*, int dim, int nnz, int layout, const int* start, const int* index,
                        const double* value) noexcept nogil
    int (*add_rows)(void*, int n, const double* lower, const double* upper,
                    int nnz, const int* start, const int* index, const double* value) noexcept nogil
    int (*change_col_bounds)(void*, int col, double lower, double upper) noexcept nogil
    int (*change_row_bounds)(void*, int row, double lower, double upper) noexcept nogil
    int (*change_col_cost)(void*, int col, double cost) noexcept nogil
    int (*clear_solver)(void*) noexcept nogil
    int (*run)(void*) noexcept nogil
    int (*model_status)(const void*) noexcept nogil
    int (*get_solution)(const void*, double* x, double* col_dual,
                        double* row_value, double* row_dual) noexcept nogil
    int (*get_dual_ray)(const void*, int* has_ray, double* ray) noexcept nogil
    int (*get_primal_ray)(const void*, int* has_ray, double* ray) noexcept nogil
    int (*get_basis)(const void*, int* col_status, int* row_status) noexcept nogil
    int (*set_basis)(void*, const int* col_status, const int* row_status) noexcept nogil
    int (*get_int_info)(const void*, const char* name, int* value) noexcept nogil
    double (*run_time)(const void*) noexcept nogil
    int (*n_iterations)(const void*) noexcept nogil
    int (*set_callback)(void*, Callback, void* user) noexcept nogil
    int (*start_callback)(void*, int kind) noexcept nogil
    int (*stop_callback)(void*, int kind) noexcept nogil

# Valid once load_api() has returned.
cdef HighsApi highs

cdef int load_api() except -1

# Highs_run on whichever thread: its scheduler may have been started with another number of threads; 0 accepts any.
cdef int run_highs(void* solver) noexcept nogil
