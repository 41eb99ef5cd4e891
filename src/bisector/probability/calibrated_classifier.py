"""Any classifier, with calibrated probabilities that its predictions follow."""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import config_context, get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import Tags, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from bisector.engine.explanation import Explanation
from bisector.engine.items import picked
from bisector.engine.lazy_rows import by_rows
from bisector.engine.lookup import look_up
from bisector.engine.progress import track
from bisector.engine.scored_rows import gathered
from bisector.engine.sources import is_collection
from bisector.engine.targets import check_labels
from bisector.engine.threads import parallel
from bisector.engine.validation import blank, check_choice, check_flag, check_weights, store

from .calibrated_pair import CalibratedPair, calibrated_pair, class_scores
from .calibrator import Calibrator, Floats
from .hull_calibrator import HullCalibrator
from .labelled_rows import LabelledRows, Weights
from .logistic_calibrator import LogisticCalibrator

Item = TypeVar("Item")
Result = TypeVar("Result")
Fold = tuple[NDArray[np.int64], NDArray[np.int64]]

_USUAL_FOLDS = 5
_METHODS: dict[str, Calibrator] = {
    "sigmoid": LogisticCalibrator("likelihood"),
    "geometric": LogisticCalibrator("geometric"),
    "isotonic": HullCalibrator(),
    "hull": HullCalibrator(),
}


class CalibratedClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Give a classifier probabilities, learned from its scores of rows that it was not trained on.

    What is predicted is always the most probable class, so that ``classes_[argmax(predict_proba)]`` and ``predict``
    agree on every row; calibration may move the classifier's own boundary. Of more than two classes, each is
    calibrated against the rest, and probabilities are divided by their sum.

    With one estimator (``ensemble=False``, or one fitted before) sigmoids keep the order of two-class scores, and
    with it the area under the ROC curve; the hull may tie some.

    Parameters
    ----------
    estimator : classifier, default=None
        With ``decision_function`` or, in its absence, ``predict_proba``. By default scikit-learn's
        ``RidgeClassifier``, the least-squares classifier.
    method : {"sigmoid", "geometric", "isotonic", "hull"} or calibrator, default="sigmoid"
        "sigmoid" is ``LogisticCalibrator("likelihood")``, "geometric" its closed form, "isotonic" and "hull" are
        ``HullCalibrator()``. A calibrator with parameters of its own is cloned.
    cv : int, splitter, iterable of (training, test) rows or "prefit", default=None
        How rows are divided; None means five folds that keep the shares of the classes, fewer if a class has fewer
        rows. "prefit" says that the estimator is fitted already and all rows are for calibration, as wrapping it in
        ``FrozenEstimator`` does.
    n_jobs : int, default=None
        Number of threads, which take a fold each; None means all cores allowed here, one inside a joblib worker.
        The result is the same for any number.
    ensemble : bool or "auto", default="auto"
        If true, each fold has its own estimator and calibrators, and their probabilities are averaged. If false,
        the scores of all folds calibrate one estimator, which is fitted on all rows. "auto" is false for an
        estimator fitted before.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    calibrated_classifiers_ : list of CalibratedPair
        Each with its ``estimator`` and ``calibrators``.
    n_features_in_ : int, if the estimator tells
    feature_names_in_ : array of str, if the estimator tells

    Notes
    -----
    A row of weight zero is as good as absent, unless `cv` lists rows by number. Larger weights count in the
    estimator and in the calibrators, but never divide one row between folds, as repeated rows would be.

    References
    ----------
    Flach, *Machine Learning* (2012), section 7.4. Zadrozny and Elkan, *Transforming classifier scores into accurate
    multiclass probability estimates* (2002).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.svm import LinearSVC
    >>> from bisector import CalibratedClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = CalibratedClassifier(LinearSVC(), method="geometric").fit(X / X.max(axis=0), y)
    >>> probabilities = model.predict_proba(X[:3] / X.max(axis=0))
    >>> (probabilities.argmax(axis=1) == model.predict(X[:3] / X.max(axis=0))).all()
    np.True_
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        method: str | Calibrator = "sigmoid",
        cv: Any = None,
        n_jobs: int | None = None,
        ensemble: bool | Literal["auto"] = "auto",
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.n_jobs = n_jobs
        self.ensemble = ensemble

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None, **fit_params: Any) -> Self:
        """Fit the estimator fold by fold, and calibrate it on the rows left out.

        Parameters
        ----------
        X : rows, as the estimator takes them
            A Dask collection with ``cv="prefit"`` only.
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), default=None
            For the calibrators, and for the estimator if its ``fit`` takes weights.
        **fit_params : any
            For the estimator's ``fit``; arrays with an entry for each row are divided into folds too.

        Returns
        -------
        self
        """
        calibrator, estimator, prefit = self._calibrator(), self._base(), self._is_prefit()
        single = self.ensemble != "auto" and not check_flag("ensemble", self.ensemble)
        if get_tags(estimator).input_tags.pairwise and not prefit:
            raise ValueError(
                "The estimator takes a matrix of all pairs of rows, which has no folds: fit it before, and give "
                'other rows with cv="prefit".'
            )
        elsewhere = is_collection(X)
        if elsewhere and not prefit:
            raise TypeError(
                "X is a Dask collection, which CalibratedClassifier does not divide into folds: fit the estimator "
                'on some of the rows before, and calibrate it on others with cv="prefit".'
            )
        y, sample_weight = gathered(y), gathered(sample_weight)
        if elsewhere:  # of the rows, no more than their scores comes here
            check_is_fitted(estimator)
            X = class_scores(estimator, X)
        X, y = indexable(X, y)
        labels = check_labels(self, y, 0 if y is None else len(y))
        if not labels.single:
            raise ValueError(
                f"CalibratedClassifier learns one label a row, but y has the shape {np.shape(y)}."
            )
        weight = check_weights(sample_weight, len(labels.codes))
        routed = ({}, {}) if prefit else self._routed(weight, fit_params)
        rows = LabelledRows(X, labels.decoded(labels.codes), labels.classes[0], weight, *routed)
        if weight is not None and not weight.all() and not _lists_rows(self.cv):
            rows = rows.take(np.flatnonzero(weight))
            rows = rows._replace(classes=np.unique(rows.y))
        if len(rows.classes) < 2:
            raise ValueError(
                "CalibratedClassifier needs rows of at least two classes, but y has one class: "
                f"{rows.classes.tolist()}."
            )
        if prefit:
            check_is_fitted(estimator)
            scores = rows.X if elsewhere else class_scores(estimator, rows.X)
            pairs = [calibrated_pair(estimator, scores, rows, calibrator)]
        elif single:
            pairs = [self._one_pair(estimator, rows, calibrator)]
        else:
            pairs = self._pairs(estimator, rows, calibrator)
        told = {
            name: getattr(pairs[0].estimator, name)
            for name in ("n_features_in_", "feature_names_in_")
            if hasattr(pairs[0].estimator, name)
        }
        return store(self, blank(self), classes_=rows.classes, calibrated_classifiers_=pairs, **told)

    @by_rows
    def predict_proba(self, X: Any) -> Floats:
        """Return the calibrated probability of each class.

        Parameters
        ----------
        X : rows, as the estimator takes them

        Returns
        -------
        array of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        check_is_fitted(self)
        pairs = self.calibrated_classifiers_
        probabilities = self._each(lambda pair: pair.predict_proba(X), pairs, "predicting")
        return np.mean(np.stack(probabilities), axis=0)

    @by_rows
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row; of several, the first.

        Parameters
        ----------
        X : rows, as the estimator takes them

        Returns
        -------
        array of shape (n_samples,)
        """
        places = self.predict_proba(X).argmax(axis=1)
        labels: NDArray[Any] = self.classes_[places]
        return labels

    def explain_rows(self, X: Any) -> list[Explanation]:
        """Say why each row is of its class: what each fold's classifier and calibrator make of it.

        Parameters
        ----------
        X : rows, as the estimator takes them

        Returns
        -------
        list of Explanation
            The first account adds up to the probability of the predicted class, a part for each fold. If there is
            one classifier only, the account of its calibrator follows, and that of the classifier if it has any.
        """
        from bisector.probability.calibration_reasons import explain_pairs

        check_is_fitted(self)
        return explain_pairs(self.calibrated_classifiers_, self.classes_, X)

    def get_metadata_routing(self) -> MetadataRouter:
        """Say which metadata go where: to the estimator's ``fit`` and to the splitter's ``split``."""
        fit_to_fit = MethodMapping().add(caller="fit", callee="fit")
        fit_to_split = MethodMapping().add(caller="fit", callee="split")
        router = MetadataRouter(owner=self).add_self_request(self)
        router.add(estimator=self._base(), method_mapping=fit_to_fit)
        if _is_splitter(self.cv):
            router.add(splitter=self.cv, method_mapping=fit_to_split)
        return router

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        of_estimator = get_tags(self._base()).input_tags
        tags.input_tags.sparse = of_estimator.sparse
        tags.input_tags.allow_nan = of_estimator.allow_nan
        tags.input_tags.string = of_estimator.string
        return tags

    def _base(self) -> Any:
        """Return the estimator to calibrate."""
        if self.estimator is not None:
            return self.estimator
        from sklearn.linear_model import RidgeClassifier

        default = RidgeClassifier()
        return default.set_fit_request(sample_weight=True) if _routing_is_on() else default

    def _calibrator(self) -> Calibrator:
        if isinstance(self.method, Calibrator):
            return self.method
        if not isinstance(self.method, str):
            raise TypeError(f"method must be a name or a calibrator of this package, not {self.method!r}.")
        return clone(look_up(_METHODS, "calibration", self.method)).set_params(n_jobs=self.n_jobs)

    def _is_prefit(self) -> bool:
        """Tell whether the estimator is used as it is, and all rows are for calibration."""
        if isinstance(self.cv, str):
            check_choice("cv", self.cv, ("prefit",))
            return True
        return self._is_frozen() and self.ensemble is not True

    def _is_frozen(self) -> bool:
        from sklearn.frozen import FrozenEstimator

        return isinstance(self.estimator, FrozenEstimator)

    def _routed(
        self, weight: Weights, fit_params: Mapping[str, Any]
    ) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """Return what goes to the estimator's ``fit``, and what to the splitter's ``split``."""
        if _routing_is_on():
            # Weights are passed on even if there are none: nothing at all could not be asked for its parts.
            routed = process_routing(self, "fit", sample_weight=weight, **fit_params)
            return routed.estimator.fit, routed.splitter.split if _is_splitter(self.cv) else {}
        if weight is None:
            return fit_params, {}
        estimator = self._base()
        if has_fit_parameter(estimator, "sample_weight") or self._is_frozen():
            return {**fit_params, "sample_weight": weight}, {}
        warnings.warn(
            f"{type(estimator).__name__}.fit takes no sample_weight: weights count in the calibration only.",
            UserWarning,
            stacklevel=3,
        )
        return fit_params, {}

    def _pairs(self, estimator: Any, rows: LabelledRows, calibrator: Calibrator) -> list[CalibratedPair]:
        """Fit one estimator on each fold's training rows, and calibrate it on the others."""

        def make(fold: Fold) -> CalibratedPair:
            fitted, held = rows.take(fold[0]).fitted(estimator), rows.take(fold[1])
            return calibrated_pair(fitted, class_scores(fitted, held.X), held, calibrator)

        return self._each(make, _folds(self.cv, rows), "calibrating")

    def _one_pair(self, estimator: Any, rows: LabelledRows, calibrator: Calibrator) -> CalibratedPair:
        """Fit one estimator on all rows; calibrate it by the scores that others, fold by fold, give to the rest."""

        def score(fold: Fold) -> Floats:
            fitted = rows.take(fold[0]).fitted(estimator)
            if len(fitted.classes_) < len(rows.classes):
                missing = np.setdiff1d(rows.classes, fitted.classes_).tolist()[0]
                raise ValueError(
                    f"A fold has no row of the class {missing!r} to train on: give more rows, or folds with every "
                    "class in each."
                )
            return class_scores(fitted, picked(rows.X, fold[1]))

        folds = _folds(self.cv, rows)
        scores = np.concatenate(self._each(score, folds, "calibrating"))
        held = rows.take(np.concatenate([test for _, test in folds]), without_x=True)
        return calibrated_pair(rows.fitted(estimator), scores, held, calibrator)

    def _each(self, work: Callable[[Item], Result], items: Sequence[Item], doing: str) -> list[Result]:
        """Do the work on all items, on several threads if there are several."""
        if len(items) == 1:
            return [work(items[0])]
        settings = get_config()  # of this thread; others start with the defaults
        with track(doing, total=len(items)) as bar:

            def with_settings(item: Item) -> Result:
                with config_context(**settings):
                    done = work(item)
                bar.advance()
                return done

            return parallel(with_settings, items, n_jobs=self.n_jobs)


def _routing_is_on() -> bool:
    return bool(get_config()["enable_metadata_routing"])


def _is_splitter(cv: Any) -> bool:
    return hasattr(cv, "split") and not isinstance(cv, str)


def _lists_rows(cv: Any) -> bool:
    """Tell whether folds are given by the numbers of their rows."""
    return isinstance(cv, Iterable) and not isinstance(cv, str) and not _is_splitter(cv)


def _folds(cv: Any, rows: LabelledRows) -> list[Fold]:
    """Divide the rows into folds to train on and to calibrate on."""
    from sklearn.model_selection import check_cv

    smallest = int(np.unique(rows.y, return_counts=True)[1].min())
    if cv is None:
        cv = max(2, min(_USUAL_FOLDS, smallest))
    if isinstance(cv, int | np.integer) and smallest < cv:
        raise ValueError(
            f"One class has only {smallest} sample(s), too few for {cv} folds with every class in each: give more "
            "rows of it, or fewer folds."
        )
    return list(check_cv(cv, rows.y, classifier=True).split(rows.X, rows.y, **rows.for_split))
