"""A first look: fit a model to built-in data and print what it says (``python -m bisector.demo``)."""

import sys

from sklearn.datasets import load_diabetes

import bisector


def main() -> None:
    """Fit least squares to scikit-learn's diabetes data and print the summary."""
    data = load_diabetes(scaled=False)
    model = bisector.LinearRegression().fit(data.data, data.target)
    sys.stdout.write("Diabetes progression after one year, from ten measurements of 442 patients\n\n")
    sys.stdout.write(f"{model.summary(data.feature_names)}\n")


if __name__ == "__main__":
    main()
