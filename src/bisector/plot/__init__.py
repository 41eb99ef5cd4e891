"""One Display a picture, in scikit-learn's convention.

A Display holds the numbers it draws; ``from_estimator`` and ``from_predictions`` make it, ``plot(ax=...)`` draws,
and the artists are kept as attributes (``ax_``, ``figure_``, ``line_`` …). Matplotlib is imported when something is
drawn.
"""

from bisector.plot.board_distances import BoardDisplay
from bisector.plot.boundaries import BoundaryDisplay
from bisector.plot.calibration_display import CalibrationDisplay
from bisector.plot.calibration_map_display import CalibrationMapDisplay
from bisector.plot.cluster_count_display import ClusterCountDisplay
from bisector.plot.coefficient_paths import CoefficientPathDisplay
from bisector.plot.condensed_rows import CondensationDisplay
from bisector.plot.confusion_display import ConfusionDisplay
from bisector.plot.coverage_display import CoverageDisplay
from bisector.plot.decision_regions import DecisionRegionsDisplay
from bisector.plot.dendrogram_display import DendrogramDisplay
from bisector.plot.density_display import DensityDisplay
from bisector.plot.distance_profile_display import DistanceProfileDisplay
from bisector.plot.error_curves import ErrorCurveDisplay
from bisector.plot.explanation_display import ExplanationDisplay
from bisector.plot.gap_display import GapDisplay
from bisector.plot.k_means_trace_display import KMeansTraceDisplay
from bisector.plot.learning_curves import LearningCurveDisplay
from bisector.plot.mixture_display import MixtureDisplay
from bisector.plot.perceptron_traces import PerceptronTraceDisplay
from bisector.plot.regression_fit import RegressionDisplay
from bisector.plot.roc_display import ROCDisplay
from bisector.plot.silhouette_display import SilhouetteDisplay
from bisector.plot.svm_paths import SVMPathDisplay
from bisector.plot.tree_display import TreeDisplay
from bisector.plot.unit_ball_curves import UnitBallDisplay
from bisector.plot.voronoi_cells import VoronoiDisplay

__all__ = [
    "BoardDisplay",
    "BoundaryDisplay",
    "CalibrationDisplay",
    "CalibrationMapDisplay",
    "ClusterCountDisplay",
    "CoefficientPathDisplay",
    "CondensationDisplay",
    "ConfusionDisplay",
    "CoverageDisplay",
    "DecisionRegionsDisplay",
    "DendrogramDisplay",
    "DensityDisplay",
    "DistanceProfileDisplay",
    "ErrorCurveDisplay",
    "ExplanationDisplay",
    "GapDisplay",
    "KMeansTraceDisplay",
    "LearningCurveDisplay",
    "MixtureDisplay",
    "PerceptronTraceDisplay",
    "ROCDisplay",
    "RegressionDisplay",
    "SVMPathDisplay",
    "SilhouetteDisplay",
    "TreeDisplay",
    "UnitBallDisplay",
    "VoronoiDisplay",
]
