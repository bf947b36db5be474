"""The fuzzer of mixtures: nasty problems, the definitions of their models, and attacks on every claim of the core."""
