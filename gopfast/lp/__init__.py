"""Linear and mixed-integer programs in HiGHS, with safe bounds."""
