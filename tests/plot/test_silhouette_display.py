"""Silhouettes: bars, averages, and rows in wrong clusters."""

import numpy as np
import pytest

from bisector import AgglomerativeClustering, KMeans, SilhouetteDisplay, silhouette
from bisector.plot.canvas import colour

ROWS = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])


def test_bars_are_the_values_in_order():
    labels = [0, 0, 1, 1, 1, 0]  # two rows are in the wrong cluster
    found = silhouette(ROWS, labels)
    shown = SilhouetteDisplay(found).plot()
    for place, label in enumerate((0, 1)):
        data = shown.bars_[place].get_data()
        np.testing.assert_array_equal(data.values, found.of_cluster(label))
        assert len(data.edges) == 4
        assert shown.bars_[place].get_facecolor()[:3] == pytest.approx(_rgb(place))
        assert list(shown.averages_[place].get_xdata()) == [found.averages[label]] * 2
    assert (np.diff(shown.bars_[0].get_data().values) <= 0).all()
    assert shown.bars_[1].get_data().edges[0] > shown.bars_[0].get_data().edges[-1]
    assert shown.line_.get_xdata()[0] == found.score
    assert len(shown.hatches_) == 2
    assert shown.hatches_[0].get_data().values.min() == found.of_cluster(0).min() < 0
    astray = int((found.values < 0).sum())
    assert shown.ax_.get_title().endswith(f"{astray} of 6 nearer to another cluster")
    low, high = shown.ax_.get_xlim()
    assert low <= found.values.min()
    assert high == 1


def _rgb(place):
    from matplotlib.colors import to_rgb

    return to_rgb(colour(place))


def test_good_clusters_have_no_hatches():
    shown = SilhouetteDisplay.from_predictions(ROWS, list("aaabbb"), metric="sqeuclidean")
    assert shown.hatches_ == []
    assert [label.get_text()[:9] for label in shown.ax_.get_yticklabels()] == ["a: 3 rows", "b: 3 rows"]


def test_many_rows_are_few_bars_with_the_same_mean():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(3000, 2)), rng.normal(size=(500, 2)) + 3])
    labels = np.repeat([0, 1], [3000, 500])
    found = silhouette(X, labels, metric="sqeuclidean")
    shown = SilhouetteDisplay(found).plot()
    many, few = (bars.get_data() for bars in shown.bars_)
    assert (len(many.values), len(few.values)) == (1000, 500)
    assert many.edges[-1] - many.edges[0] == 3000
    assert many.values.mean() == pytest.approx(found.averages[0])
    assert (np.diff(many.values) <= 1e-12).all()


def test_a_clusterer_brings_labels_and_distance():
    model = KMeans(2, random_state=0).fit(ROWS)
    shown = SilhouetteDisplay.from_estimator(model, ROWS)
    np.testing.assert_array_equal(shown.silhouette.labels, model.labels_)
    fresh = ROWS[:4] + 0.25  # rows it has not seen go to the clusters it predicts
    np.testing.assert_array_equal(
        SilhouetteDisplay.from_estimator(model, fresh).silhouette.labels, model.predict(fresh)
    )
    words = ["cat", "cats", "hat", "house", "houses", "mouse"]
    model = AgglomerativeClustering(2, metric="levenshtein", linkage="average").fit(words)
    shown = SilhouetteDisplay.from_estimator(model, words)
    assert shown.silhouette.metric == model.metric_


def test_bad_input_is_refused():
    with pytest.raises(TypeError, match="use from_predictions"):
        SilhouetteDisplay([0.1, 0.2])
    with pytest.raises(ValueError, match="cluster"):
        SilhouetteDisplay.from_predictions(ROWS, [0] * 6)
