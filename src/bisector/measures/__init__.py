"""Measures: how good, how near, how sure, from arrays alone."""
