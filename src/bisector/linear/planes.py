"""What the linear models of this room share; the planes themselves are in `bisector.engine.planes`."""

from typing import Any

from numpy.typing import ArrayLike

from bisector.engine.planes import DecidesByPlanes, HasPlanes, narrowed

__all__ = ["HasPlanes", "PlaneClassifier", "narrowed"]


class PlaneClassifier(DecidesByPlanes):
    """A linear classifier that can also say whether any plane separates the classes at all."""

    def separability(self, X: Any, y: ArrayLike) -> Any:
        """Say, with a proof either way, whether any plane separates the two classes of y.

        Parameters
        ----------
        X, y : as for `fit`

        Returns
        -------
        Separability
            As of `bisector.linear_separability`.
        """
        from .separability import linear_separability

        return linear_separability(X, y)
