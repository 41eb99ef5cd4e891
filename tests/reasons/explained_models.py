"""Models of every kind, what they are fitted to, and what their accounts must add up to."""

import numpy as np

import bisector as b

CLASSIFIERS = [
    b.BasicLinearClassifier(),
    b.BasicLinearClassifier(kernel="rbf"),
    b.CalibratedClassifier(b.LinearSVC(), ensemble=False),
    b.CalibratedClassifier(b.LogisticRegression(), method="isotonic", cv=3),
    b.DecisionTreeClassifier(max_depth=3),
    b.DecisionTreeClassifier(probabilities="laplace"),
    b.KNeighborsClassifier(1),
    b.KNeighborsClassifier(4, weights="distance"),
    b.KNeighborsClassifier(3, metric="manhattan"),
    b.KNeighborsClassifierCV(k_max=9),
    b.KernelPerceptron("rbf"),
    b.KernelPerceptron("rbf", multi_class="one-vs-one"),
    b.LeastSquaresClassifier(),
    b.LinearSVC(),
    b.LogisticRegression(),
    b.LogisticRegression(scheme="one-vs-rest"),
    b.MixtureClassifier(),
    b.NearestExemplarClassifier(),
    b.NearestExemplarClassifier(per_class=3),
    b.NearestExemplarClassifier("medoid", per_class=2, n_neighbors=3, metric="manhattan"),
    b.Perceptron(),
    b.Perceptron(multi_class="one-vs-one"),
    b.Perceptron(multi_class="nested"),
    b.RBFClassifier(),
    b.RBFClassifier(width=2.0, bump="epanechnikov"),
    b.RBFNetworkClassifier(4, random_state=0),
    b.RBFNetworkClassifier(4, output="logistic", alpha=1.0, random_state=0),
    b.RadiusNeighborsClassifier(2.0, outlier_label="a"),
    b.SVC(),
    b.SVC(kernel="linear"),
    b.SVC(kernel="poly", degree=2),
    b.SimilarityClassifier(),
]
REGRESSORS = [
    b.DecisionTreeRegressor(max_depth=3),
    b.DecisionTreeRegressor(max_depth=2, leaf="linear"),
    b.ElasticNet(0.1),
    b.ElasticNetCV(cv=3),
    b.GaussianMixtureRegressor(2),
    b.KNeighborsRegressor(3),
    b.KNeighborsRegressor(3, weights="distance"),
    b.KNeighborsRegressorCV(k_max=5),
    b.KernelRidge(kernel="rbf"),
    b.Lasso(0.1),
    b.LassoCV(cv=3),
    b.LinearRegression(),
    b.LinearRegression(fit_intercept=False),
    b.PerceptronRegressor(),
    b.RBFNetworkRegressor(4, random_state=0),
    b.RBFRegressor(),
    b.RadiusNeighborsRegressor(9.0),
    b.Ridge(2.0),
    b.RidgeCV(),
    b.SVR(),
    b.SVR(kernel="linear"),
    b.TotalLeastSquares(),
]
CLUSTERERS = [
    b.AgglomerativeClustering(3),
    b.AgglomerativeClustering(3, linkage="average"),
    b.ClusteringTree(max_leaf_nodes=4),
    b.GaussianMixture(2, random_state=0),
    b.KExemplars(3),
    b.KExemplars(3, metric="manhattan"),
    b.KMeans(3, random_state=0),
    b.KMedoids(3),
    b.KernelKMeans(3),
    b.KernelKMeans(3, assign="mean-distance"),
]
DENSITIES = [
    b.HistogramDensity(bins=3),
    b.KernelDensity(),
    b.KernelDensity(bandwidth="scott", scale="covariance"),
    b.KernelDensity(kernel="tophat", bandwidth=2.0),
    b.KernelDensity(metric="manhattan"),
    b.KernelDensity(adaptive=True),
    b.KernelDensity(bounds=[(-50, 50)] * 3),
    b.KernelDensityCV(bandwidths=5),
    b.NearestNeighborDensity(3),
]
NOVELTY = [b.NoveltyDetector(alpha=0.1)]
CALIBRATORS = [b.HullCalibrator(), b.LogisticCalibrator(), b.LogisticCalibrator("likelihood")]
OF_ROWS = [*CLASSIFIERS, *REGRESSORS, *CLUSTERERS, *DENSITIES, *NOVELTY]


def data(seed, n_classes=3, n=60):
    """Rows in three dimensions, with classes that overlap a little, and a target."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % n_classes
    X = rng.normal(size=(n, 3)) + 2.0 * rng.normal(size=(n_classes, 3))[codes]
    return X, np.array(list("abc"))[codes], X @ [1.0, -2.0, 0.5] + 0.3 * rng.normal(size=n)


def fitted(model, seed, n_classes=3):
    """Return a copy of the model fitted to such data, and rows to ask about."""
    from sklearn.base import clone

    X, labels, targets = data(seed, n_classes)
    y = targets if any(model is one for one in REGRESSORS) else labels
    made = clone(model)
    made = made.fit(X) if any(model is one for one in [*CLUSTERERS, *DENSITIES, *NOVELTY]) else made.fit(X, y)
    asked = X[:6] + 0.1 * np.random.default_rng(seed + 1).normal(size=(6, 3))
    return made, asked


def own_total(model, x, account, answer):
    """Return what the model itself says an account adds up to; None for an account of something else."""
    title = account.title
    code = int(np.flatnonzero(model.classes_ == answer)[0]) if hasattr(model, "classes_") else None
    if title.startswith("prediction"):
        return model.predict(x[None])[0]
    if title.startswith("score") and not hasattr(model, "decision_function"):
        return None  # of a model inside
    if title.startswith("score, positive for"):
        return model.decision_function(x[None])[0]
    if title.startswith("score of") and " against " not in title:
        return model.decision_function(x[None])[0][code]
    if title.startswith(("probability of", "share of ")) and hasattr(model, "predict_proba"):
        return model.predict_proba(x[None])[0][code]
    if title == "density":
        return np.exp(model.score_samples(x[None])[0])
    if title in ("probabilities", "share of the density"):
        return 1.0
    if (
        title.startswith("squared distance from exemplar")
        and hasattr(model, "transform")
        and "less" not in title
    ):
        return model.transform(x[None])[0][answer] ** 2
    if title.startswith("distance from exemplar") and hasattr(model, "transform") and "less" not in title:
        return model.transform(x[None])[0][answer]
    if title.startswith("log density above"):
        return model.decision_function(x[None])[0]
    return None
