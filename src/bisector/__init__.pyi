# The public names of bisector, grouped by family. `__init__.py` reads this list too: a name added here
# is public, and nowhere else needs a line.

from .catalogue import all_estimators as all_estimators
from .distances import (
    LCS as LCS,
    OSA as OSA,
    Bing as Bing,
    Bishop as Bishop,
    Chebyshev as Chebyshev,
    Compiled as Compiled,
    Cosine as Cosine,
    DamerauLevenshtein as DamerauLevenshtein,
    Elliptical as Elliptical,
    Euclidean as Euclidean,
    Gower as Gower,
    Hamming as Hamming,
    Haversine as Haversine,
    Indel as Indel,
    Jaccard as Jaccard,
    Jaro as Jaro,
    JaroWinkler as JaroWinkler,
    King as King,
    Knight as Knight,
    KRook as KRook,
    Levenshtein as Levenshtein,
    Mahalanobis as Mahalanobis,
    Manhattan as Manhattan,
    Minkowski as Minkowski,
    Pawn as Pawn,
    Postfix as Postfix,
    Prefix as Prefix,
    Queen as Queen,
    Rook as Rook,
    StringHamming as StringHamming,
)
from .engine.progress import progress as progress
from .engine.settings import config as config
from .linear import LinearRegression as LinearRegression
from .neighbors import (
    KNeighborsClassifier as KNeighborsClassifier,
    KNeighborsClassifierCV as KNeighborsClassifierCV,
    KNeighborsRegressor as KNeighborsRegressor,
    KNeighborsRegressorCV as KNeighborsRegressorCV,
    NearestExemplarClassifier as NearestExemplarClassifier,
    NearestNeighbors as NearestNeighbors,
    RadiusNeighborsClassifier as RadiusNeighborsClassifier,
    RadiusNeighborsRegressor as RadiusNeighborsRegressor,
)

__version__: str
__all__: list[str]
