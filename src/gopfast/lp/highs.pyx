"""Find the HiGHS C API inside the highspy wheel, on first use.

The wheel carries it without headers: exported by ``_core`` itself up to highspy 1.14, in ``libhighs`` in 1.15, and no
more in 1.16. The highsbox wheel, which is made of the same sources, is for those who need a newer highspy.
"""

import ctypes
from importlib.util import find_spec
from pathlib import Path

cdef object library = None

ADVICE = (
    "gopfast solves linear programs with the HiGHS C API, which it looks for in the packages highspy and highsbox: {}. "
    "Install it with `pip install 'highspy>=1.7.2,<1.16'`, or, beside a highspy of 1.16 or later, whose wheels do not "
    "export the C API, and on Windows, where none do, with `pip install highsbox`."
)
# Where the packages have their libraries.
PLACES = (
    ("highspy", ("libhighs.*", "_core.*")),
    ("highsbox", ("highs_dist/lib/libhighs.*", "highs_dist/bin/highs.dll")),
)


def version():
    """Version of the HiGHS library in use, e.g. ``"1.15.1"``."""
    load_api()
    return highs.version().decode()


cdef int load_api() except -1:
    """Fill ``highs``, or raise ImportError with advice. Needs the GIL; later calls return at once."""
    global library, highs
    cdef HighsApi api
    if library is not None:
        return 0
    found = find_library()
    try:
        bind(found, "Highs_create", <void**> &api.create)
        bind(found, "Highs_destroy", <void**> &api.destroy)
        bind(found, "Highs_version", <void**> &api.version)
        bind(found, "Highs_getSizeofHighsInt", <void**> &api.sizeof_int)
        bind(found, "Highs_setBoolOptionValue", <void**> &api.set_bool)
        bind(found, "Highs_setIntOptionValue", <void**> &api.set_int)
        bind(found, "Highs_setDoubleOptionValue", <void**> &api.set_double)
        bind(found, "Highs_setStringOptionValue", <void**> &api.set_string)
        bind(found, "Highs_passLp", <void**> &api.pass_lp)
        bind(found, "Highs_passMip", <void**> &api.pass_mip)
        bind(found, "Highs_passHessian", <void**> &api.pass_hessian)
        bind(found, "Highs_addRows", <void**> &api.add_rows)
        bind(found, "Highs_changeColBounds", <void**> &api.change_col_bounds)
        bind(found, "Highs_changeRowBounds", <void**> &api.change_row_bounds)
        bind(found, "Highs_changeColCost", <void**> &api.change_col_cost)
        bind(found, "Highs_clearSolver", <void**> &api.clear_solver)
        bind(found, "Highs_run", <void**> &api.run)
        bind(found, "Highs_getModelStatus", <void**> &api.model_status)
        bind(found, "Highs_getSolution", <void**> &api.get_solution)
        bind(found, "Highs_getDualRay", <void**> &api.get_dual_ray)
        bind(found, "Highs_getPrimalRay", <void**> &api.get_primal_ray)
        bind(found, "Highs_getBasis", <void**> &api.get_basis)
        bind(found, "Highs_setBasis", <void**> &api.set_basis)
        bind(found, "Highs_getIntInfoValue", <void**> &api.get_int_info)
        bind(found, "Highs_getRunTime", <void**> &api.run_time)
        bind(found, "Highs_getSimplexIterationCount", <void**> &api.n_iterations)
        bind(found, "Highs_setCallback", <void**> &api.set_callback)
        bind(found, "Highs_startCallback", <void**> &api.start_callback)
        bind(found, "Highs_stopCallback", <void**> &api.stop_callback)
    except AttributeError as error:
        raise ImportError(ADVICE.format(f"the one found is too old ({error})")) from None
    check_int_size(&api)
    highs = api
    library = found
    return 0


cdef int run_highs(void* solver) noexcept nogil:
    cdef int code = highs.run(solver)
    if code == -1 and highs.set_int(solver, b"threads", 0) != -1:
        code = highs.run(solver)
    return code


cdef object find_library():
    """The loaded library that exports the C API. ctypes never unloads it and keeps its symbols local."""
    cdef list found = []
    for package, patterns in PLACES:
        spec = find_spec(package)
        if spec is None:
            continue
        found.append(package)
        for pattern in patterns:
            for folder in spec.submodule_search_locations or ():
                for path in sorted(Path(folder).glob(pattern)):
                    try:
                        candidate = ctypes.CDLL(str(path))
                    except OSError:
                        continue
                    if hasattr(candidate, "Highs_create"):
                        return candidate
    if not found:
        raise ImportError(ADVICE.format("neither is installed"))
    raise ImportError(ADVICE.format(f"no library of {' and '.join(found)} exports it"))


cdef int bind(object source, str symbol, void** slot) except -1:
    slot[0] = <void*> <size_t> ctypes.cast(getattr(source, symbol), ctypes.c_void_p).value
    return 0


cdef int check_int_size(const HighsApi* api) except -1:
    # Never destroyed: destroying resets the scheduler of a thread that may be running the caller's own HiGHS.
    cdef void* probe = api.create()
    if probe == NULL or api.sizeof_int(probe) != sizeof(int):
        raise ImportError(ADVICE.format("the one found is built with 64-bit integers"))
    return 0
