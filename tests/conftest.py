"""What all tests share."""

from hypothesis import settings
from hypothesis.internal.conjecture import providers

# The same examples in every run: what failed once fails again, and what passed does not fail by chance.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")

# Hypothesis also draws constants that it finds in the modules imported so far, which are others in every worker.
if hasattr(providers, "_get_local_constants"):
    providers._get_local_constants = lambda: providers._local_constants  # none
