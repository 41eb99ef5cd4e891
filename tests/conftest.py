"""What all tests share."""

from hypothesis import settings

# The same examples in every run: what failed once fails again, and what passed does not fail by chance.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")
