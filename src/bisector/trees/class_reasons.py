"""Why a decision tree gives a row its class."""

from typing import TYPE_CHECKING, Any

import numpy as np

from bisector.engine.explanation import Account, Explanation, account_of, plain, told
from bisector.engine.show import number
from bisector.trees.tree_reasons import LeafBoxes, dense_rows, gains, told_way, way_to

if TYPE_CHECKING:
    from bisector.trees.decision_tree_classifier import DecisionTreeClassifier


def explain_classes(model: "DecisionTreeClassifier", X: Any) -> list[Explanation]:
    """Explain the classes of rows by their ways down a tree."""
    leaves, matrix, reading = model._leaves(X), model._rows(X), model._read()
    labels = model._labels
    estimated = [model._estimated(o) for o in range(model.tree_.n_outputs)]
    chosen = np.stack([np.argmax(one, axis=1) for one in estimated], axis=1)
    answers = labels.decoded(chosen)
    boxes = LeafBoxes(reading, answers) if labels.single else None
    explained = []
    for i, leaf in enumerate(leaves.tolist()):
        x, way = dense_rows(matrix, np.array([i]))[0], way_to(reading, leaf)
        accounts: list[Account] = []
        for o, classes in enumerate(labels.classes):
            code, output = int(chosen[leaf, o]), "" if labels.single else f" as output {o}"
            accounts.append(
                gains(f"probability of {told(classes[code])}{output}", estimated[o][:, code], way)
            )
        for o, classes in enumerate(labels.classes):
            weight = model.tree_.weighted_n_node_samples[leaf] * model.tree_.value[leaf, o, : len(classes)]
            columns = {"training weight": weight}
            title = "probabilities" + ("" if labels.single else f" of output {o}")
            names = [told(label) for label in classes]
            accounts.append(account_of(title, estimated[o][leaf], names=names, columns=columns, of="classes"))
        own = np.atleast_1d(answers[leaf])
        rows = int(model.tree_.n_node_samples[leaf])
        said = (
            f"{', '.join(told(label) for label in own)}, with probability {number(accounts[0].total)}: "
            f"{len(way.conditions)} conditions lead to a leaf with {rows:,} training rows."
        )
        answer = plain(own[0]) if labels.single else own.tolist()
        move = None if boxes is None else boxes.nearest_other(x, answers[leaf])
        explained.append(Explanation(answer, said, accounts, told_way(reading, way, x), move))
    return explained
