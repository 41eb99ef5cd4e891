"""What an index must answer, from the distances to every row: the oracle of the tests in this folder."""

import numpy as np
from numpy.testing import assert_array_equal


def reduced_distances(distance, X, Q):
    """All reduced distances, queries × rows."""
    rows = distance.prepare(X)
    pairs = distance.between(distance.prepare(Q, like=rows), rows)
    reduced = np.empty(pairs.shape)
    pairs.fill(range(pairs.shape[0]), range(pairs.shape[1]), reduced)
    return reduced, pairs.finish(reduced)


def check_answers(index, X, Q, ks=(1,), shares=(0.0, 0.1, 1.0), kept=None, n_jobs=None):
    """Compare all that an index answers, when of the rows X only some are left, with a stable sort."""
    kept = np.arange(len(X)) if kept is None else np.asarray(kept)
    reduced, finished = reduced_distances(index.distance, X, Q)
    reduced, finished = reduced[:, kept], finished[:, kept]
    for k in ks:
        expected = np.argsort(reduced, axis=1, kind="stable")[:, :k]
        distances, numbers = index.query(Q, k, n_jobs=n_jobs)
        assert_array_equal(numbers, kept[expected])
        assert_array_equal(distances, np.take_along_axis(finished, expected, axis=1))
    for share in shares:
        radius = np.sort(finished, axis=1)[:, int(share * (len(kept) - 1))]
        inside = finished <= radius[:, None]
        assert_array_equal(index.query_radius(Q, radius, count_only=True, n_jobs=n_jobs), inside.sum(axis=1))
        found = index.query_radius(Q, radius, n_jobs=n_jobs)
        queries, columns = np.nonzero(inside)
        assert_array_equal(np.repeat(np.arange(len(inside)), np.diff(found.indptr)), queries)
        assert_array_equal(found.indices, kept[columns])
        assert_array_equal(found.data, finished[inside])


def come_and_go(make, X, Q, rng, steps=6):
    """Add and remove rows at random, comparing the answers after every step; X is indexable by lists of numbers."""
    n_first = len(X) // 3
    index = make(X[:n_first])
    seen, kept = n_first, np.arange(n_first)
    for _ in range(steps):
        if seen < len(X) and rng.random() < 0.5:
            more = int(rng.integers(1, len(X) - seen + 1))
            assert_array_equal(index.add(X[seen : seen + more]), np.arange(seen, seen + more))
            seen, kept = seen + more, np.concatenate([kept, np.arange(seen, seen + more)])
        elif len(kept) > 1:
            gone = rng.choice(kept, size=int(rng.integers(1, len(kept))), replace=False)
            index.remove(gone)
            kept = np.setdiff1d(kept, gone)
        assert len(index) == len(kept)
        check_answers(index, X[:seen], Q, ks={1, min(3, len(kept)), len(kept)}, kept=kept)
