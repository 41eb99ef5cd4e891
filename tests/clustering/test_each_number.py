"""K-means for several numbers of clusters at once."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from bisector import KMeans, datasets

FIVE = [[0, 3], [3, 3], [3, 0], [-2, -4], [-4, -2]]
X = datasets.four_gaussians(60).X


def fits(model, rows, numbers):
    models = [KMeans(**{**model.get_params(), "n_clusters": k}).fit(rows) for k in numbers]
    return [(one.labels_, one.scatter_.within.sum()) for one in models]


def test_by_hand():
    model = KMeans(random_state=0)
    found = model.cluster_each(FIVE, [2, 1])
    assert [one.scatter for one in found] == [16.0, 76.0]
    assert found[0].labels[0] == found[0].labels[1] == found[0].labels[2] != found[0].labels[3]
    assert not hasattr(model, "labels_")


def test_the_clusters_are_those_of_fits_where_they_are_clear():
    found = KMeans(random_state=0).cluster_each(X, range(1, 7))
    one = KMeans(4, random_state=0).fit(X)
    assert found[3].scatter == pytest.approx(one.inertia_, rel=1e-9)
    assert len(np.unique(4 * found[3].labels + one.labels_)) == 4
    assert found[3].n_clusters == 4


@pytest.mark.parametrize(
    "options", [{"refine": False}, {"init": "farthest-first"}, {"n_init": 2}, {"init": "random"}]
)
def test_other_beginnings_are_fitted_one_by_one(options):
    model = KMeans(random_state=3, **options)
    for found, (labels, scatter) in zip(model.cluster_each(X, [2, 3]), fits(model, X, [2, 3]), strict=True):
        assert_array_equal(found.labels, labels)
        assert found.scatter == scatter


@pytest.mark.parametrize("rows", [scipy.sparse.csr_array(np.abs(X)), X[:, :1], np.tile(X, 20)])
def test_other_rows_are_fitted_one_by_one(rows):
    """Sparse rows, one feature (of which the best clusters are known), and many."""
    model = KMeans(random_state=3)
    for found, (labels, scatter) in zip(
        model.cluster_each(rows, [2, 3]), fits(model, rows, [2, 3]), strict=True
    ):
        assert_array_equal(found.labels, labels)
        assert found.scatter == scatter


def test_far_apart_numbers_are_fitted_one_by_one():
    model = KMeans(random_state=3)
    (found,), ((labels, _),) = model.cluster_each(X, [9]), fits(model, X, [9])
    assert_array_equal(found.labels, labels)


def test_single_precision_and_order_of_memory_change_nothing_but_digits():
    model = KMeans(random_state=0)
    wide, single, turned = (
        model.cluster_each(rows, range(1, 6))[3] for rows in (X, X.astype(np.float32), np.asfortranarray(X))
    )
    assert_array_equal(wide.labels, turned.labels)
    assert_array_equal(wide.labels, single.labels)
    assert single.scatter == pytest.approx(wide.scatter, rel=1e-6)


def test_equal_rows_are_told():
    with pytest.warns(ConvergenceWarning, match=r"clusters \(2\) found smaller than 3"):
        found = KMeans(random_state=0).cluster_each([[0.0, 1], [0, 1], [2, 0], [2, 0]], [1, 2, 3])
    assert [one.n_clusters for one in found] == [1, 2, 2]


@pytest.mark.parametrize(
    ("rows", "numbers", "options", "kind", "said"),
    [
        (FIVE, [], {}, ValueError, "k_range is empty"),
        (FIVE, [0], {}, ValueError, "k_range must be a whole number at least 1"),
        (FIVE, [2, 6], {}, ValueError, "asks for 6 clusters, but X has only 5 rows"),
        (FIVE, [2], {"init": "somehow"}, ValueError, "init must be one of"),
        (FIVE, [2], {"refine": "often"}, ValueError, "refine must be True or False"),
        ([[0.0, 1], [2, np.nan], [3, 4]], [1, 2], {}, ValueError, "NaN in row 1, column 1"),
        ([[0.0, 1e200], [2, 0], [3, 4]], [1, 2], {}, ValueError, "so large that their squares overflow"),
    ],
)
def test_bad_input_is_told(rows, numbers, options, kind, said):
    with pytest.raises(kind, match=said):
        KMeans(**options).cluster_each(rows, numbers)
