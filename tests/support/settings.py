"""Settings of the property tests: the same examples in every run, however slow the machine."""

from hypothesis import HealthCheck, settings


def examples(n):
    """Settings for n examples."""
    return settings(
        max_examples=n,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
