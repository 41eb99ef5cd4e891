"""Clustering: rows that belong together, found by distances (Flach, 8.4 to 8.6)."""

from bisector.clustering.agglomerative import AgglomerativeClustering
from bisector.clustering.dendrogram import Dendrogram
from bisector.clustering.k_exemplars import KExemplars
from bisector.clustering.k_means import KMeans
from bisector.clustering.k_medoids import KMedoids
from bisector.clustering.kernel_k_means import KernelKMeans

__all__ = ["AgglomerativeClustering", "Dendrogram", "KExemplars", "KMeans", "KMedoids", "KernelKMeans"]
