"""`LinearSVC` on rows that are elsewhere: the bits of any scheduler, and fits that go on after an interruption."""

from typing import Any

import dask
import dask.array as da
import distributed
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bisector import LinearSVC
from bisector.engine import checkpoint

RNG = np.random.default_rng(5)
X = RNG.normal(size=(2400, 4)) + [0.0, 3.0, 0.0, -1.0]
LABELS = np.array(["a", "b", "c"])[np.digitize(X[:, 0] + 0.5 * RNG.normal(size=2400), [-0.5, 0.5])]
LAZY = da.from_array(X, chunks=((900, 0, 700, 800), 4))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_processes_give_the_bits_of_one(loss: str, two_workers: Any) -> None:
    """Workers cannot write into what they are given: how rows move has to come back from them."""
    labels = LABELS == "a"
    with distributed.Client(two_workers):
        among = LinearSVC(loss=loss).fit(LAZY, labels)
    with dask.config.set(scheduler="synchronous"):
        alone = LinearSVC(loss=loss).fit(LAZY, labels)
    for name in ("coef_", "intercept_", "alpha_", "dual_gap_", "n_iter_"):
        np.testing.assert_array_equal(getattr(among, name), getattr(alone, name))
    assert among.converged_
    in_memory = LinearSVC(loss=loss).fit(X, labels)
    # Both are solved to all digits: a gap of 1e-13 leaves the weights some 1e-7 of freedom, without the square.
    np.testing.assert_allclose(among.coef_, in_memory.coef_, rtol=1e-6, atol=1e-6)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("place", ["collection", "file"])
def test_an_interrupted_fit_goes_on(
    loss: str, place: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    data: tuple[Any, Any] = LAZY, LABELS
    if place == "file":
        table = pa.table([*X.T, LABELS], names=["p", "q", "r", "s", "kind"])
        pq.write_table(table, tmp_path / "rows.parquet", row_group_size=500)
        data = tmp_path / "rows.parquet", "kind"
    monkeypatch.setattr(checkpoint, "SECONDS_BETWEEN_SAVES", 0.0)
    whole = LinearSVC(loss=loss, n_jobs=1).fit(*data)
    save, count = checkpoint._File.save, [0]

    def interrupting(self: Any) -> None:
        save(self)
        count[0] += 1
        if count[0] == 6:
            raise KeyboardInterrupt

    model = LinearSVC(loss=loss, checkpoint=tmp_path / "kept", n_jobs=1)
    monkeypatch.setattr(checkpoint._File, "save", interrupting)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*data)
    monkeypatch.setattr(checkpoint._File, "save", save)
    model.fit(*data)
    for name in ("coef_", "intercept_", "alpha_", "dual_gap_", "n_iter_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(whole, name))
    assert not (tmp_path / "kept").exists()
