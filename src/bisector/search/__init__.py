"""Who is near: exact search under any distance."""

from bisector.search.choose import build_index
from bisector.search.index import Index

__all__ = ["Index", "build_index"]
