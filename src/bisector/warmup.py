"""Compile every loop before it is needed: ``python -m bisector.warmup``.

The first fit that meets a loop waits about a second while it is compiled; later processes read it from the
disk cache. This fills the cache at once, for containers, clusters and benchmarks. By convention a module
with loops has a function ``warm()`` that calls each of them once per dtype, on tiny data.
"""

import ast
import importlib
import os
import time
from pathlib import Path
from typing import NamedTuple


class Warmed(NamedTuple):
    """What `warmup` did.

    Attributes
    ----------
    loops : int
        How many loops there are.
    compiled : int
        How many combinations of loop and types were compiled now.
    loaded : int
        How many were found in the cache; loops inside of these need not be loaded by themselves.
    folder : Path or None
        Where they are kept; None if they could not be kept.
    seconds : float
        How long it took.
    skipped : list of str
        Modules whose optional dependencies are not installed.
    """

    loops: int
    compiled: int
    loaded: int
    folder: Path | None
    seconds: float
    skipped: list[str]

    def __str__(self) -> str:
        without = f" (without {', '.join(self.skipped)})" if self.skipped else ""
        done = f"{self.loops} loops{without} in {self.seconds:.1f} s: "
        if not self.compiled and not self.loaded:
            return done + "nothing to compile"
        place = f"kept in {self.folder}" if self.folder else "not kept, for want of a folder to write to"
        return done + f"{self.compiled} compiled, {self.loaded} loaded, {place}"


def warmup(verbose: bool = False) -> Warmed:
    """Compile the loops of all modules for the types they meet, and keep them on disk.

    Parameters
    ----------
    verbose : bool, default=False
        Show a progress bar.

    Returns
    -------
    Warmed
    """
    from bisector.engine.loop_cache import cache_folder
    from bisector.engine.loops import all_loops
    from bisector.engine.progress import track

    start = time.perf_counter()
    modules = _modules_to_warm()
    skipped = []
    with track("warming up", total=len(modules), verbose=verbose) as bar:
        for name in modules:
            try:
                importlib.import_module(f"{__package__}.{name}").warm()
            except ModuleNotFoundError as missing:
                if missing.name is None or missing.name.partition(".")[0] == __package__:
                    raise
                skipped.append(name)
            bar.advance(note=name)
    loops = all_loops()
    stats = [made.stats for made in loops if hasattr(made, "stats")]
    compiled = sum(sum(counts.cache_misses.values()) for counts in stats)
    folder = cache_folder()
    kept = folder is not None and folder.is_dir() and (not compiled or os.access(folder, os.W_OK))
    return Warmed(
        loops=len(loops),
        compiled=compiled,
        loaded=sum(sum(counts.cache_hits.values()) for counts in stats),
        folder=folder if kept else None,
        seconds=time.perf_counter() - start,
        skipped=skipped,
    )


def _modules_to_warm() -> list[str]:
    """Name the modules of this package that define ``warm()``, without importing any."""
    root = Path(__file__).parent
    return [
        ".".join(path.relative_to(root).with_suffix("").parts)
        for path in sorted(root.rglob("*.py"))
        if _defines_warm(path.read_text(encoding="utf-8"))
    ]


def _defines_warm(source: str) -> bool:
    # Parsing everything would take longer than loading the cache.
    return "def warm()" in source and any(
        isinstance(statement, ast.FunctionDef) and statement.name == "warm"
        for statement in ast.parse(source).body
    )


if __name__ == "__main__":
    print(warmup(verbose=True))
