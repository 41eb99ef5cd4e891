# The public names of bisector, grouped by family. `__init__.py` reads this list too: a name added here
# is public, and nowhere else needs a line.

from .catalogue import all_estimators as all_estimators
from .clustering import (
    AgglomerativeClustering as AgglomerativeClustering,
    Dendrogram as Dendrogram,
    KernelKMeans as KernelKMeans,
    KExemplars as KExemplars,
    KMeans as KMeans,
    KMedoids as KMedoids,
)
from .density import (
    ClusterArrivalDetector as ClusterArrivalDetector,
    GaussianMixture as GaussianMixture,
    GaussianMixtureRegressor as GaussianMixtureRegressor,
    HistogramDensity as HistogramDensity,
    KernelDensity as KernelDensity,
    KernelDensityCV as KernelDensityCV,
    MixtureClassifier as MixtureClassifier,
    NearestNeighborDensity as NearestNeighborDensity,
    NoveltyDetector as NoveltyDetector,
)
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
    check_axioms as check_axioms,
    unit_ball as unit_ball,
)
from .engine.progress import progress as progress
from .engine.settings import config as config
from .exemplars import (
    coordinate_median as coordinate_median,
    farthest_first as farthest_first,
    geometric_median as geometric_median,
    medoid as medoid,
    scatter_decomposition as scatter_decomposition,
    scatter_matrix as scatter_matrix,
)
from .kernels import (
    CosineBump as CosineBump,
    EpanechnikovBump as EpanechnikovBump,
    ExponentialBump as ExponentialBump,
    Gaussian as Gaussian,
    GaussianBump as GaussianBump,
    Intersection as Intersection,
    KernelDistance as KernelDistance,
    Laplacian as Laplacian,
    Linear as Linear,
    Polynomial as Polynomial,
    Spectrum as Spectrum,
    TriangularBump as TriangularBump,
    WindowBump as WindowBump,
    is_psd as is_psd,
)
from .linear import (
    BasicLinearClassifier as BasicLinearClassifier,
    ElasticNet as ElasticNet,
    ElasticNetCV as ElasticNetCV,
    KernelPerceptron as KernelPerceptron,
    KernelRidge as KernelRidge,
    Lasso as Lasso,
    LassoCV as LassoCV,
    LeastSquaresClassifier as LeastSquaresClassifier,
    LinearRegression as LinearRegression,
    LogisticRegression as LogisticRegression,
    Perceptron as Perceptron,
    PerceptronRegressor as PerceptronRegressor,
    Ridge as Ridge,
    RidgeCV as RidgeCV,
    TotalLeastSquares as TotalLeastSquares,
    enet_path as enet_path,
    lasso_knots as lasso_knots,
    lasso_path as lasso_path,
    linear_separability as linear_separability,
)
from .measures.calibration import reliability_curve as reliability_curve
from .measures.confusion import confusion_matrix as confusion_matrix
from .measures.error_bounds import asymptotic_error as asymptotic_error
from .measures.gap import gap_statistic as gap_statistic
from .measures.number_of_clusters import choose_k as choose_k
from .measures.profile import distance_profile as distance_profile
from .measures.roc import auc as auc, roc_convex_hull as roc_convex_hull, roc_curve as roc_curve
from .measures.silhouettes import (
    silhouette as silhouette,
    silhouette_samples as silhouette_samples,
    silhouette_score as silhouette_score,
)
from .measures.stationary import stationary_points as stationary_points
from .measures.structure import structure_test as structure_test
from .neighbors import (
    CondensedNearestNeighbor as CondensedNearestNeighbor,
    EditedNearestNeighbor as EditedNearestNeighbor,
    InfluenceCondenser as InfluenceCondenser,
    KNeighborsClassifier as KNeighborsClassifier,
    KNeighborsClassifierCV as KNeighborsClassifierCV,
    KNeighborsRegressor as KNeighborsRegressor,
    KNeighborsRegressorCV as KNeighborsRegressorCV,
    NearestExemplarClassifier as NearestExemplarClassifier,
    NearestNeighbors as NearestNeighbors,
    PrototypeMerger as PrototypeMerger,
    RadiusNeighborsClassifier as RadiusNeighborsClassifier,
    RadiusNeighborsRegressor as RadiusNeighborsRegressor,
    VoronoiCondenser as VoronoiCondenser,
    learning_curve as learning_curve,
)
from .plot import (
    BoardDisplay as BoardDisplay,
    BoundaryDisplay as BoundaryDisplay,
    CalibrationDisplay as CalibrationDisplay,
    CalibrationMapDisplay as CalibrationMapDisplay,
    ClusterCountDisplay as ClusterCountDisplay,
    CoefficientPathDisplay as CoefficientPathDisplay,
    CondensationDisplay as CondensationDisplay,
    ConfusionDisplay as ConfusionDisplay,
    CoverageDisplay as CoverageDisplay,
    DecisionRegionsDisplay as DecisionRegionsDisplay,
    DendrogramDisplay as DendrogramDisplay,
    DensityDisplay as DensityDisplay,
    DistanceProfileDisplay as DistanceProfileDisplay,
    ErrorCurveDisplay as ErrorCurveDisplay,
    ExplanationDisplay as ExplanationDisplay,
    GapDisplay as GapDisplay,
    KMeansTraceDisplay as KMeansTraceDisplay,
    LearningCurveDisplay as LearningCurveDisplay,
    MixtureDisplay as MixtureDisplay,
    PerceptronTraceDisplay as PerceptronTraceDisplay,
    RegressionDisplay as RegressionDisplay,
    ROCDisplay as ROCDisplay,
    SilhouetteDisplay as SilhouetteDisplay,
    SVMPathDisplay as SVMPathDisplay,
    TreeDisplay as TreeDisplay,
    UnitBallDisplay as UnitBallDisplay,
    VoronoiDisplay as VoronoiDisplay,
)
from .probability import (
    CalibratedClassifier as CalibratedClassifier,
    HullCalibrator as HullCalibrator,
    LogisticCalibrator as LogisticCalibrator,
)
from .rbf import (
    RBFClassifier as RBFClassifier,
    RBFNetworkClassifier as RBFNetworkClassifier,
    RBFNetworkRegressor as RBFNetworkRegressor,
    RBFRegressor as RBFRegressor,
    SimilarityClassifier as SimilarityClassifier,
)
from .reasons import explain as explain
from .reports.model_files import load as load, save as save
from .reports.writing import report as report
from .svm import SVC as SVC, SVR as SVR, LinearSVC as LinearSVC, svm_path as svm_path
from .trees import (
    ClusteringTree as ClusteringTree,
    DecisionTreeClassifier as DecisionTreeClassifier,
    DecisionTreeRegressor as DecisionTreeRegressor,
    oversample as oversample,
)

__version__: str
__all__: list[str]
