"""Ask for memory before it is needed: see `bisector.engine.intrinsics.prefetch`."""

from bisector.engine.intrinsics import prefetch

__all__ = ["prefetch"]
