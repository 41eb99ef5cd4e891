"""Tables that come with scikit-learn: measurements of real things."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.engine.validation import Seed, check_count, check_flag, check_seed

from .dataset import Rows
from .registry import makes


@makes(
    "Handwritten digits in two features",
    shows="Intensity and symmetry tell some digits from others; ten classes overlap.",
    source="scikit-learn; LFD, Figure 6.6",
)
def digit_features(*, positive: int | None = None, n: int | None = None, seed: Seed = 0) -> Rows:
    """Reduce scikit-learn's 1,797 images of digits to their intensity and symmetry.

    The intensity is the mean of an image's 8 × 8 pixels, as a share of black: from 0 to 1. The symmetry is
    minus the mean absolute difference between the image and its mirror images, left to right and upside
    down: from −1 to 0, which is perfect. LFD looks at digits in this way in Figures 6.2 to 6.6 and 6.12 to
    6.15, mostly at samples of 500.

    Each image was stretched to fill its box before it came to scikit-learn, so that intensity says less here
    than in the book, and a 1 is hard to tell. A 0, the most symmetric digit, is told best.

    Parameters
    ----------
    positive : int, default=None
        The digit to tell from the rest: its rows are labelled +1, all others −1. None keeps the ten digits
        as labels.
    n : int, default=None
        Number of rows, drawn without replacement; None means all of them, in their order.
    seed : int or numpy.random.Generator, default=0
        For the choice of n rows.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from bisector import datasets
    >>> X, y = datasets.digit_features(positive=0, n=500)
    >>> X.shape, sorted(set(y.tolist()))
    ((500, 2), [-1, 1])
    """
    from sklearn.datasets import load_digits

    rng = check_seed(seed)
    table = load_digits()
    images, y = table.images / 16, table.target.astype(np.int64)
    mirrored = [np.abs(images - images[:, :, ::-1]), np.abs(images - images[:, ::-1, :])]
    X = np.column_stack([images.mean(axis=(1, 2)), -np.mean(mirrored, axis=(0, 2, 3))])
    names, target = ("intensity", "symmetry"), "digit"
    if positive is not None:
        positive = check_count("positive", positive, at_least=0, at_most=9)
        y, target = np.where(y == positive, 1, -1).astype(np.int64), f"is_{positive}"
    if n is not None:
        chosen = rng.permutation(len(y))[: check_count("n", n, at_most=len(y))]
        X, y = X[chosen], y[chosen]
    return Rows(X, y, names, (target,))


@makes(
    "Iris flowers",
    shows="One species stands apart; the two others touch.",
    source="scikit-learn (Fisher, 1936)",
)
def iris() -> Rows:
    """Read the lengths and widths, in centimetres, of sepals and petals of 150 irises of three species.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from bisector import datasets
    >>> data = datasets.iris()
    >>> data.X.shape, data.class_names
    ((150, 4), ('setosa', 'versicolor', 'virginica'))
    """
    from sklearn.datasets import load_iris

    return _classes(load_iris(), "species")


@makes(
    "Wines of three growers",
    shows="Features in very different units: distances mean little until they are scaled.",
    source="scikit-learn (UCI, 1991)",
)
def wine() -> Rows:
    """Read thirteen chemical measurements of 178 Italian wines by three growers.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from bisector import datasets
    >>> data = datasets.wine()
    >>> data.X.shape, data.feature_names[-1]
    ((178, 13), 'proline')
    """
    from sklearn.datasets import load_wine

    return _classes(load_wine(), "grower")


@makes(
    "Breast tumours",
    shows="Thirty features, many of them nearly the same, that almost part two classes.",
    source="scikit-learn (Wolberg et al., 1995)",
)
def breast_cancer() -> Rows:
    """Read thirty measurements of cell nuclei in 569 tumours, malignant (0) or benign (1).

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from bisector import datasets
    >>> data = datasets.breast_cancer()
    >>> data.X.shape, data.class_names
    ((569, 30), ('malignant', 'benign'))
    """
    from sklearn.datasets import load_breast_cancer

    return _classes(load_breast_cancer(), "diagnosis")


@makes(
    "Diabetes after one year",
    shows="A useful plane with coefficients that cannot be trusted one by one.",
    source="scikit-learn (Efron et al., 2004)",
)
def diabetes(*, scaled: bool = False) -> Rows:
    """Read ten measurements of 442 patients, and how far their diabetes had progressed a year later.

    Parameters
    ----------
    scaled : bool, default=False
        Whether features are centred and scaled to length 1, which scikit-learn does by default; otherwise
        they are in their own units.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from bisector import datasets
    >>> data = datasets.diabetes()
    >>> data.feature_names[:4], data.X[0, :4]
    (('age', 'sex', 'bmi', 'bp'), array([ 59. ,   2. ,  32.1, 101. ]))
    """
    from sklearn.datasets import load_diabetes

    return _numbers(load_diabetes(scaled=check_flag("scaled", scaled)), ("progression",))


@makes(
    "Exercises and physiology",
    shows="Three targets at once, and too few rows to learn much.",
    source="scikit-learn (Tenenhaus, 1998)",
)
def linnerud() -> Rows:
    """Read three exercises and three physiological measurements of twenty men of a fitness club.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from bisector import datasets
    >>> data = datasets.linnerud()
    >>> data.feature_names, data.target_names
    (('Chins', 'Situps', 'Jumps'), ('Weight', 'Waist', 'Pulse'))
    """
    from sklearn.datasets import load_linnerud

    table = load_linnerud()
    return _numbers(table, _words(table.target_names))


def _classes(table: Any, target: str) -> Rows:
    y: NDArray[np.int64] = table.target.astype(np.int64)
    return Rows(_features(table), y, _words(table.feature_names), (target,), _words(table.target_names))


def _numbers(table: Any, targets: tuple[str, ...]) -> Rows:
    return Rows(_features(table), table.target.astype(np.float64), _words(table.feature_names), targets)


def _features(table: Any) -> NDArray[np.float64]:
    return np.ascontiguousarray(table.data, dtype=np.float64)


def _words(names: Any) -> tuple[str, ...]:
    return tuple(map(str, names))
