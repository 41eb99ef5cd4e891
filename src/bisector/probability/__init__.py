"""Scores into probabilities: logistic, from the geometry of the classes; or along the ROC convex hull."""

from .calibrated_classifier import CalibratedClassifier
from .hull_calibrator import HullCalibrator
from .logistic_calibrator import LogisticCalibrator

__all__ = ["CalibratedClassifier", "HullCalibrator", "LogisticCalibrator"]
