"""One Display a picture, in scikit-learn's convention.

A Display holds the numbers it draws; ``from_estimator`` and ``from_predictions`` make it, ``plot(ax=...)`` draws,
and the artists are kept as attributes (``ax_``, ``figure_``, ``line_`` …). Matplotlib is imported when something is
drawn.
"""
