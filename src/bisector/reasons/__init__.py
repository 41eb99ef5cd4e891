"""Explanations: why a model answers as it does, in words, tables and pictures."""

from bisector.reasons.explaining import explain
from bisector.reasons.told import Reasons

__all__ = ["Reasons", "explain"]
