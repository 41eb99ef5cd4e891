"""Clustering: rows that belong together, found by distances (Flach, 8.4 to 8.6)."""

from bisector.clustering.k_medoids import KMedoids

__all__ = ["KMedoids"]
