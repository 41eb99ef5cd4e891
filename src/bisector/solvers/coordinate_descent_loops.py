"""The compiled sweeps of coordinate descent: one coordinate after the other goes to its own minimum.

Each loop sweeps until the duality gap on its columns is at most `target`, or until so many sweeps are made that
a step of another kind pays (see `coordinate_descent`). It returns the number of sweeps and the gap.
"""

import numpy as np

from bisector.engine.loops import given, loop


@loop
def _minimum(z, l1, curvature, positive):  # type: ignore[no-untyped-def]
    """Minimise ½·curvature·v² − z·v + l1·|v|: where the slope at zero is within ±l1, at zero."""
    if z > l1:
        return (z - l1) / curvature
    if z < -l1 and not positive:
        return (z + l1) / curvature
    return 0.0


@loop
def gap_of(g, v, l1, l2, residual_square, positive):  # type: ignore[no-untyped-def]
    """Bound how far the objective at v lies above its minimum; g are the correlations with the residual.

    `lasso_problem` derives the two bounds, of which the smaller is returned.
    """
    scale, ridge, ridge_gap = 1.0, 0.0, 0.0
    for j in range(len(v)):
        ridge += l2[j] * v[j] * v[j]
        h = g[j] - l2[j] * v[j]
        size = h if positive else abs(h)
        if size > l1[j]:
            scale = min(scale, l1[j] / size)
        excess = (g[j] if positive else abs(g[j])) - l1[j]
        if excess > 0.0:
            ridge_gap += 0.5 * excess * excess / l2[j] if l2[j] > 0.0 else np.inf
    lasso_gap = 0.5 * (1 - scale) ** 2 * (residual_square + ridge)
    for j in range(len(v)):
        if v[j] != 0.0:
            height = l1[j] * abs(v[j])
            lasso_gap += height - scale * v[j] * (g[j] - l2[j] * v[j])
            ridge_gap += height + v[j] * (0.5 * l2[j] * v[j] - g[j])
    return max(0.0, min(lasso_gap, ridge_gap))


@loop
def sweep_products(G, q, l1, l2, square, positive, target, most, v, g):  # type: ignore[no-untyped-def]
    """Sweep with the products G of all columns with each other; g = q − Gv is kept up to date."""
    k = len(v)
    gap = np.inf
    for sweep in range(1, most + 1):
        for j in range(k):
            line = G[j]
            curvature = line[j] + l2[j]
            if curvature <= 0.0:
                continue
            old = v[j]
            new = _minimum(g[j] + line[j] * old, l1[j], curvature, positive)
            if new != old:
                v[j] = new
                step = new - old
                for i in range(k):
                    g[i] -= step * line[i]
        residual = square
        for j in range(k):
            residual -= v[j] * (q[j] + g[j])
        gap = gap_of(g, v, l1, l2, max(residual, 0.0), positive)
        if gap <= target:
            return sweep, gap
    return most, gap


@loop
def copy_face(G, face, l2, M):  # type: ignore[no-untyped-def]
    """Put the products of some columns with each other into M, the ridge penalty on its diagonal."""
    for a in range(len(face)):
        line = G[face[a]]
        for b in range(len(face)):
            M[a, b] = line[face[b]]
        M[a, a] += l2[face[a]]


@loop
def take_steps(G, face, steps, v, g):  # type: ignore[no-untyped-def]
    """Move some coefficients, keeping g = q − Gv up to date."""
    k = len(v)
    for a in range(len(face)):
        if steps[a] != 0.0:
            line, step = G[face[a]], steps[a]
            v[face[a]] += step
            for i in range(k):
                g[i] -= step * line[i]


@loop(fast=True)
def sweep_columns(columns, squares, l1, l2, positive, most, v, residual):  # type: ignore[no-untyped-def]
    """Sweep with the columns themselves, held as rows of an array; the residual is kept up to date."""
    n = columns.shape[1]
    for _ in range(most):
        for j in range(len(v)):
            curvature = squares[j] + l2[j]
            if curvature <= 0.0:
                continue
            column, old = columns[j], v[j]
            slope = 0.0
            for i in range(n):
                slope += column[i] * residual[i]
            new = _minimum(slope + squares[j] * old, l1[j], curvature, positive)
            if new != old:
                v[j] = new
                step = new - old
                for i in range(n):
                    residual[i] -= step * column[i]


@loop
def sweep_sparse_columns(  # type: ignore[no-untyped-def]
    starts, places, values, sums, squares, l1, l2, positive, most, v, residual, offset
):
    """Sweep with sparse columns less multiples of `roots`; the residual is ``residual + offset·roots``.

    Columns xⱼ − mⱼ·roots are at right angles to `roots` (their rows' weights' square roots), as the residual is
    when there is an intercept: subtracting the mean moves one number. ``sums[:, 0]`` are the mⱼ, ``sums[:, 1]``
    are xⱼ·roots.
    """
    moved = offset
    for _ in range(most):
        for j in range(len(v)):
            curvature = squares[j] + l2[j]
            if curvature <= 0.0:
                continue
            old = v[j]
            slope = moved * sums[j, 1]
            for a in range(starts[j], starts[j + 1]):
                slope += values[a] * residual[places[a]]
            new = _minimum(slope + squares[j] * old, l1[j], curvature, positive)
            if new != old:
                v[j] = new
                step = new - old
                moved += step * sums[j, 0]
                for a in range(starts[j], starts[j + 1]):
                    residual[places[a]] -= step * values[a]
    return moved


@loop(fast=True)
def correlate_sparse(starts, places, values, features, u, found):  # type: ignore[no-untyped-def]
    """Put the products of some columns of a CSC matrix with a vector into `found`."""
    for k in range(len(features)):
        total = 0.0
        for a in range(starts[features[k]], starts[features[k] + 1]):
            total += values[a] * u[places[a]]
        found[k] = total


def warm() -> None:
    """Compile the loops of this module."""
    one, place = given(np.ones(1)), given(np.zeros(1, dtype=np.int64))
    table, ends = given(np.ones((1, 1))), given(np.array([0, 1]))
    v, g = np.zeros(1), np.ones(1)
    sweep_products(table, one, one, one, 1.0, False, 0.0, 1, v, g)
    copy_face(table, place, one, np.empty((1, 1)))
    take_steps(table, place, one, v, g)
    gap_of(given(g), given(v), one, one, 1.0, False)
    sweep_columns(table, one, one, one, False, 1, v, g)
    sums = given(np.ones((1, 2)))
    sweep_sparse_columns(ends, place, one, sums, one, one, one, False, 1, v, g, 0.0)
    for dtype in (np.float32, np.float64):
        correlate_sparse(ends, place, given(one, dtype), place, one, np.empty(1))
