"""The sections of a report on a table without a target."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bisector.engine.show import Table, number
from bisector.plot import ClusterCountDisplay, DendrogramDisplay, DistanceProfileDisplay, SilhouetteDisplay
from bisector.reports.exploration import FEWEST_FOR_NOVELTY, Exploration, sets_apart
from bisector.reports.parts import Figures, Piece, Section, Verdict, Words
from bisector.reports.pictures import drawn

if TYPE_CHECKING:
    import polars

_MOST_NOVELTIES = 20
_ROW = {"row": "the number of the row in the table, from 0"}


def distances(found: Exploration) -> Section:
    """Say whether neighbours mean anything."""
    profile = found.profile
    rows: list[list[object]] = [
        ["contrast", profile.contrast, "(farthest − nearest) / nearest, the median over the rows"],
        ["dimension", profile.dimension, "in how many dimensions the rows really spread"],
        ["repeats", f"{100 * profile.repeats:.1f}%", "rows that are the same as an earlier one"],
    ]
    pieces: list[Piece] = [
        Verdict(profile.verdict),
        Words("Distances are Euclidean, between standardised columns."),
        Figures("Distances", Table(["figure", "value", "meaning"], rows)),
        drawn("distances", "Distances between rows", lambda: DistanceProfileDisplay(profile).plot()),
    ]
    return Section("distances", "Distances", pieces)


def number_of_clusters(found: Exploration) -> Section | None:
    """Say how many clusters there are, if any."""
    count = found.count
    if count is None:
        return None
    pieces: list[Piece] = [Verdict(count.advice)]
    if found.structure is not None:
        pieces.append(Words(found.structure.verdict))
    table = count.table()
    heads = ["k", "silhouette", "by silhouette", "gap", "std. error", "by gap", "scatter", "by elbow"]
    meanings = {
        "silhouette": "how well rows fit their clusters, from −1 to 1",
        "gap": "by how much the clusters are tighter than those of evenly spread rows",
        "scatter": "the squared distances to the means of the clusters",
        "by silhouette": "a star marks the number with the highest silhouette",
        "by gap": "a star marks the smallest number whose gap is within one standard error of the next one's",
        "by elbow": "a star marks the number after which the scatter falls more slowly",
    }
    pieces += [
        drawn("count", "What three rules say", lambda: ClusterCountDisplay(count).plot()),
        Figures("Numbers of clusters tried", Table(heads, table.rows), meanings),
    ]
    return Section("count", "How many clusters", pieces)


def clusters(found: Exploration, frame: "polars.DataFrame") -> Section | None:
    """Name each cluster by its exemplar and by what sets it apart."""
    if found.model is None:
        return None
    sizes = np.bincount(found.labels)
    if len(sizes) < 2:
        return Section("clusters", "Clusters", [Words("All rows are taken as one cluster.")])
    lines = [
        [cluster, int(size), int(found.exemplars[cluster]), _in_words(sets_apart(found, cluster))]
        for cluster, size in enumerate(sizes)
    ]
    meanings = {
        "exemplar": "the row nearest to the mean of the cluster; its cells are in the next table",
        "what sets it apart": "where its mean differs most from that of all rows, in standard deviations",
    }
    pieces: list[Piece] = [
        Figures("Clusters", Table(["cluster", "rows", "exemplar", "what sets it apart"], lines), meanings),
        Figures("Exemplars", _cells(frame, found.exemplars.tolist(), "cluster", list(range(len(sizes))))),
    ]
    if found.silhouette is not None:
        shown = found.silhouette
        pieces.append(
            drawn(
                "silhouette",
                f"Silhouettes of {len(shown.values):,} rows: long bars fit their cluster, negative ones another",
                lambda: SilhouetteDisplay(shown).plot(),
            )
        )
    return Section("clusters", "Clusters", pieces)


def hierarchy(found: Exploration) -> Section | None:
    """Show which rows and clusters are near to each other."""
    model = found.hierarchy
    if model is None:
        return None
    of = f" of {len(found.labels):,}" if len(found.hierarchy_rows) < len(found.labels) else ""
    caption = f"Which of {len(found.hierarchy_rows):,}{of} rows join first (Ward's linkage)"
    return Section(
        "hierarchy",
        "Hierarchy",
        [drawn("dendrogram", caption, lambda: DendrogramDisplay.from_estimator(model, most=30))],
    )


def novelties(found: Exploration, frame: "polars.DataFrame") -> Section | None:
    """List rows that are unlike nearly all others."""
    if found.novel is None or found.log_density is None:
        return None
    if len(found.labels) < FEWEST_FOR_NOVELTY:
        words = f"With fewer than {FEWEST_FOR_NOVELTY} rows, none can be called unusual."
        return Section("novelties", "Unusual rows", [Words(words)])
    words = (
        f"{len(found.novel):,} of {len(found.labels):,} rows are less usual than {100 * (1 - found.alpha):.0f}% of "
        f"those they were compared with; about {round(found.alpha * len(found.labels)):,} would be by chance alone."
    )
    shown = found.novel[:_MOST_NOVELTIES].tolist()
    if not shown:
        return Section("novelties", "Unusual rows", [Words(words)])
    log_density = found.log_density
    density = [float(np.round(log_density[row], 2)) for row in shown]
    table = _cells(frame, shown, "log density", density)
    meanings = {**_ROW, "log density": "how usual the row is; lower is less usual"}
    return Section(
        "novelties", "Unusual rows", [Words(words), Figures("The least usual first", table, meanings)]
    )


def _cells(
    frame: "polars.DataFrame", rows: list[int], head: str, first: Sequence[object], most: int = 8
) -> Table:
    names = frame.columns[:most]
    lines = [
        [value, row, *(_cell(frame[name][row]) for name in names)]
        for value, row in zip(first, rows, strict=True)
    ]
    more = [f"and {frame.width - most} more columns"] if frame.width > most else []
    return Table([head, "row", *names], lines, notes=more)


def _cell(value: object) -> object:
    return value if isinstance(value, int | float) or value is None else str(value)[:60]


def _in_words(differences: list[tuple[str, float]]) -> str:
    said = [
        f"{name} {'above' if by > 0 else 'below'} by {number(abs(by), 2)}"
        for name, by in differences
        if abs(by) > 0.2
    ]
    return "; ".join(said) or "little"
