"""What a model file holds is checked before compiled loops meet it, since these do not look where they read.

A file that was made with intent can hold any numbers: a child that a tree does not have, a neighbour beyond the
last row, centres with fewer columns than rows come with. So, after a model was read, what can be made anew from the
rest is made anew (distances from their parameters, indexes from their rows), and the rest is checked: shapes
against each other, numbers that point somewhere against what they point to.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator

from bisector.clustering import AgglomerativeClustering, Dendrogram
from bisector.density import KernelDensity
from bisector.distances.distance import Distance, Rows
from bisector.engine.values import Value
from bisector.reports.checked_rows import check_rows
from bisector.reports.checked_trees import check_merges, check_tree
from bisector.reports.faults import ModelFileFault
from bisector.search.index import Index
from bisector.solvers.feature_rows import FeatureRows
from bisector.solvers.tree_arrays import Tree

# Matrices of estimators that compiled loops compare with the rows they are given, column by column.
_AS_WIDE_AS_ROWS = ("X_fit_", "cluster_centers_", "exemplars_", "centers_", "support_vectors_")


def check_model(model: Any) -> None:
    """Make anew what can be, and check the rest; the model is changed in place.

    Parameters
    ----------
    model : object
        As it was read from a file.

    Raises
    ------
    ModelFileFault
        If parts of it do not fit together.

    Examples
    --------
    >>> import bisector
    >>> from bisector.reports.consistency import check_model
    >>> model = bisector.DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])
    >>> check_model(model)
    >>> model.tree_.children_left[0] = 1_000_000
    >>> check_model(model)
    Traceback (most recent call last):
    ...
    bisector.reports.faults.ModelFileFault: The parts of the model do not fit together: a tree has children it
    lacks.
    """
    for part, width in list(_parts(model, None, set())):
        try:
            for kind, check in _CHECKS:
                if isinstance(part, kind):
                    check(part, width)
        except ModelFileFault:
            raise
        except Exception as fault:  # whatever breaks on such parts would have broken on sound ones too
            said = (str(fault).splitlines() or [repr(fault)])[0]
            raise ModelFileFault(
                f"The parts of the model do not fit together: {said.rstrip('.')}."
            ) from fault


def _parts(thing: Any, width: int | None, seen: set[int]) -> Iterator[tuple[Any, int | None]]:
    """Yield all that a model is made of, the inner before the outer, with its estimator's number of features."""
    if id(thing) in seen or isinstance(thing, str | bytes | int | float | np.ndarray | np.generic | type):
        return
    seen.add(id(thing))
    if isinstance(thing, BaseEstimator):
        width = getattr(thing, "n_features_in_", None)
        if width is not None and (not isinstance(width, int | np.integer) or width < 1):
            raise ModelFileFault(f"The parts of the model do not fit together: n_features_in_ is {width!r}.")
    inside: list[Any] = []
    if isinstance(thing, dict):
        inside += [*thing.keys(), *thing.values()]
    elif isinstance(thing, list | tuple | set | frozenset):
        inside += thing
    elif not scipy.sparse.issparse(thing) and hasattr(thing, "__dict__"):
        inside += vars(thing).values()
    for part in inside:
        yield from _parts(part, width, seen)
    yield thing, width


def _check_sparse(matrix: Any, width: int | None) -> None:
    if matrix.format in ("csr", "csc", "bsr"):
        matrix.check_format(full_check=True)


def _remake(value: Value, width: int | None) -> None:
    made = type(value)(**value.get_params(deep=False))
    vars(value).clear()
    vars(value).update(vars(made))


def _check_held_rows(holder: Any, width: int | None) -> None:
    """Check rows beside the distance that compares them; those of kernels were made anew."""
    if isinstance(holder, FeatureRows | Rows):
        return
    held = [part for part in vars(holder).values() if isinstance(part, Rows)]
    distances = [part for part in vars(holder).values() if isinstance(part, Distance)]
    for rows in held:
        check_rows(rows, distances[0] if distances else None, width)


def _check_index(index: Index, width: int | None) -> None:
    """Arrange the rows anew; their numbers must ascend, and be among those that were given out."""
    if refusal := index._refusal():
        raise ValueError(refusal)
    check_rows(index._like, index.distance, width)
    seen = index._n_seen
    _check_shape_of_trees(index)
    for part in index._parts:
        rows, ids, alive = part.structure.rows, part.ids, part.alive
        check_rows(rows, index.distance, width)
        if type(rows) is not type(index._like) or ids.shape != (len(rows),) or alive.shape != ids.shape:
            raise ValueError("an index has other rows than numbers")
        if ids.dtype.kind != "i" or not len(ids) or ids[0] < 0 or ids[-1] >= seen or (np.diff(ids) < 1).any():
            raise ValueError("an index has numbers of rows that it lacks")
        if alive.dtype != bool:
            raise ValueError("an index does not say which rows are there")
        part.n_alive = int(alive.sum())
        part.structure = index._arrange(rows)


def _check_shape_of_trees(index: Any) -> None:
    """The numbers that say how a tree is grown, as constructors check them."""
    from bisector.engine.validation import check_count
    from bisector.search.kd_build import MOST_LANES

    shape = getattr(index, "shape", index)
    for name, least in (("leaf_size", 1), ("branches", 2)):
        if hasattr(shape, name):
            check_count(name, getattr(shape, name), at_least=least, at_most=MOST_LANES)


def _check_feature_rows(rows: FeatureRows, width: int | None) -> None:
    if rows.prepared is not None:
        if width is not None and hasattr(rows.items, "shape") and rows.items.shape[1:] != (width,):
            raise ValueError("rows have other columns than the model")
        object.__setattr__(rows, "prepared", rows.kernel.prepare(rows.items))


def _check_estimator(model: BaseEstimator, width: int | None) -> None:
    for name in _AS_WIDE_AS_ROWS:
        matrix = vars(model).get(name)
        numbers = isinstance(matrix, np.ndarray) and matrix.dtype.kind in "fiub"
        if not (numbers or scipy.sparse.issparse(matrix)):
            continue  # words, sets or tables, whose rows are checked where they are held
        if matrix.ndim != 2 or matrix.shape[1] != width:
            raise ValueError(f"{name} has the shape {matrix.shape}, but rows have {width} columns")
    tree = vars(model).get("tree_")
    if isinstance(tree, Tree) and tree.n_features != width:
        raise ValueError(f"a tree has {tree.n_features} features, but rows have {width} columns")


def _check_density(model: KernelDensity, width: int | None) -> None:
    if "X_fit_" in vars(model):
        n = len(model.X_fit_)
        if not n or model.weights_fit_.shape != (n,) or model.local_factors_.shape != (n,):
            raise ValueError("bumps have other weights than rows")
        model._arrange()


def _check_hierarchy(model: AgglomerativeClustering, width: int | None) -> None:
    if "children_" in vars(model):
        check_merges(model.children_, whole=False)


def _check_dendrogram(tree: Dendrogram, width: int | None) -> None:
    check_merges(tree.merges, tree.levels, tree.sizes)


# In this order: what holds rows may rely on distances that were made anew.
_CHECKS: list[tuple[Any, Callable[[Any, int | None], None]]] = [
    (scipy.sparse.spmatrix | scipy.sparse.sparray, _check_sparse),
    (Value, _remake),
    (Index, _check_index),
    (FeatureRows, _check_feature_rows),
    (Tree, lambda tree, width: check_tree(tree)),
    (Dendrogram, _check_dendrogram),
    (BaseEstimator, _check_estimator),
    (KernelDensity, _check_density),
    (AgglomerativeClustering, _check_hierarchy),
    (object, lambda part, width: _check_held_rows(part, width) if hasattr(part, "__dict__") else None),
]
