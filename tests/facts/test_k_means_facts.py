"""K-means in the literature: Flach, Examples 8.3 and 8.5."""

import pytest

from bisector import KMeans, datasets


def test_example_8_3_total_is_within_plus_between():
    X = datasets.scatter_points().X
    for start, within, between in [
        ([[1.5, 3], [-1, -2]], [12.0, 4.0], 60.0),
        ([[2, 2], [-3, -3]], [12.0, 4.0], 60.0),
    ]:
        scatter = KMeans(2, init=start).fit(X).scatter_
        assert scatter.within.tolist() == pytest.approx(within)
        assert scatter.between == pytest.approx(between)
        assert scatter.total == pytest.approx(76.0)


@pytest.mark.parametrize(("start", "scatter"), [
    ([8, 59], 932), ([26, 64], 1280), ([34, 71], 1370), ([40, 84], 1464),
])  # fmt: skip
def test_example_8_5_every_contiguous_split_is_stationary(start, scatter):
    model = KMeans(2, init=[[c] for c in start]).fit(datasets.five_numbers().X)
    assert model.inertia_ == pytest.approx(scatter, rel=1e-12)
    assert model.cluster_centers_.ravel().tolist() == pytest.approx(start)
    assert not model.optimal_


def test_example_8_5_the_default_finds_the_optimum():
    X = datasets.five_numbers().X
    model = KMeans(2).fit(X)
    assert model.inertia_ == pytest.approx(932.0, rel=1e-12)
    assert model.optimal_
    assert sorted(model.cluster_centers_.ravel()) == pytest.approx([8.0, 59.0])
