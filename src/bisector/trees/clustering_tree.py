class ClusteringTree: pass
