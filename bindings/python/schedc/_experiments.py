"""Score functions in Python, for experiments."""

from typing import TYPE_CHECKING, Any, Callable, Sequence

from ._results import table

if TYPE_CHECKING:
    from . import Cluster

Score = Callable[[str, str], float]


def place(cluster: "Cluster", pods: Sequence[str], score: Score, weight: float = 1) -> Any:
    """Places pods one by one with an additional score, and returns a table: ``pod``, ``node``, ``score``, ``total`` and ``message``.

    ``score`` gets the names of a pod and of a feasible node, and returns a number from 0 to 100. Its product with ``weight`` is added to
    the total of the profile. The node with the highest sum wins; among equal ones, the choice of the profile, otherwise the first by name.
    Pods that fit nowhere keep waiting; nothing is preempted.

    This is slow: each pod needs a decision, and a call of Python for each feasible node. For a scheduler, write a plugin in Rust.
    """
    rows = []
    for pod in pods:
        decision = cluster.decide(pod)
        found = {}
        for node in decision["feasible"]:
            own = float(score(pod, node))
            if not 0 <= own <= 100:
                raise ValueError(f"the score of pod {pod} on node {node} is {own}; a score is a number from 0 to 100")
            total = decision["nodes"].get(node, {}).get("total") or 0
            found[node] = (total + weight * own, node == decision["chosen"], own)
        best = max(sorted(found), key=lambda node: found[node][:2]) if found else None
        row = {"pod": decision["pod"], "node": best, "score": None, "total": None, "message": decision["message"]}
        if best is not None:
            row.update(score=found[best][2], total=found[best][0])
            cluster.schedule(pod, best)
        rows.append(row)
    return table(rows, ["pod", "node", "score", "total", "message"])
