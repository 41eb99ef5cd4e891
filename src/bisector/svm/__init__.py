"""Support vector machines: the plane with the widest margin, in the space of the rows or of a kernel's features."""

from bisector.svm.linear_svc import LinearSVC
from bisector.svm.regularisation_path import svm_path
from bisector.svm.svc import SVC
from bisector.svm.svr import SVR

__all__ = ["SVC", "SVR", "LinearSVC", "svm_path"]
