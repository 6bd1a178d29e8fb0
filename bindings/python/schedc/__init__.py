"""What a Kubernetes scheduler would do, with the scheduler's own code.

A :class:`Cluster` has objects and a profile. It answers which pods may run on a node, where a pod goes and why, and how many
nodes pods need. Changes within a fork can be reverted. :func:`evaluate` evaluates the scenarios of ``schedc evaluate``.
:func:`simulate`, :func:`explain`, :func:`replay` and :func:`backtest` are commands of ``schedc``.

The functions run without the GIL. Calls to one cluster from several threads run one after the other.
"""

import json
import pathlib
from contextlib import contextmanager
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Union

from . import _native, _toml
from ._commands import Backtest, Explanation, Replay, Simulation, backtest, explain, replay, simulate
from ._errors import Error
from ._experiments import place
from ._native import Answer, version
from ._objects import Objects, manifests, nodes, pods
from ._results import Report, table

__all__ = [
    "Answer",
    "Backtest",
    "Cluster",
    "Error",
    "Explanation",
    "Profiles",
    "Replay",
    "Report",
    "Simulation",
    "backtest",
    "evaluate",
    "evaluate_lines",
    "explain",
    "nodes",
    "place",
    "pods",
    "replay",
    "simulate",
    "version",
]


class Profiles:
    """Valid profiles, by name: texts in TOML, or dictionaries. Without an argument: kube-scheduler's default profile, ``default``.

    Their texts stay in memory until the program ends: read each profile once.
    """

    def __init__(self, profiles: Optional[Mapping[str, Union[str, Mapping[str, Any]]]] = None) -> None:
        texts = [
            (name if name.endswith(".toml") else f"{name}.toml", text if isinstance(text, str) else _toml.dumps(text))
            for name, text in (profiles or {"default": ""}).items()
        ]
        self.texts = dict(texts)
        self.names = [name[: -len(".toml")] for name, _ in texts]
        self._native = _native.Profiles(texts)

    @classmethod
    def from_files(cls, *files: Union[str, pathlib.Path]) -> "Profiles":
        """Reads profiles from files. Each has the name of its file."""
        paths = [pathlib.Path(file) for file in files]
        return cls({path.name: path.read_text(encoding="utf-8") for path in paths})


class Cluster:
    """A hypothetical cluster with a profile.

    A pod is ``namespace/name``, or a name in the namespace ``default``. Objects are texts in YAML or JSON, files, dictionaries, or
    lists of them. A pod with ``spec.nodeName`` occupies that node, other pods wait.
    """

    def __init__(
        self, objects: Optional[Objects] = None, profile: Optional[str] = None, profiles: Optional[Profiles] = None
    ) -> None:
        self._profiles = profiles or Profiles()
        name = profile or self._profiles.names[0]
        self._native = _native.Cluster(self._profiles._native, name)
        if objects is not None:
            self.apply(objects)

    def apply(self, objects: Objects, defaults: bool = False) -> Dict[str, Any]:
        """Adds or replaces objects, and returns their numbers. With ``defaults``, they are completed as by an API server."""
        return json.loads(self._native.apply(manifests(objects), defaults))

    def delete(self, kind: str, name: str, namespace: str = "") -> bool:
        """Deletes an object. Returns whether it existed."""
        return self._native.delete(kind, namespace, name)

    def clear(self) -> None:
        """Removes all objects, and closes all forks."""
        self._native.clear()

    @contextmanager
    def fork(self) -> Iterator["Cluster"]:
        """Reverts the changes within a ``with`` statement. :meth:`commit` within it keeps them."""
        self._native.fork()
        forks = self._native.forks()
        try:
            yield self
        finally:
            if self._native.forks() == forks:
                self._native.revert()

    def commit(self) -> None:
        """Keeps the changes since the last fork."""
        self._native.commit()

    def nodes(self) -> List[str]:
        """Returns the names of the nodes, sorted."""
        return self._native.nodes()

    def pods(self) -> Dict[str, Optional[str]]:
        """Returns the node of each pod."""
        return dict(self._native.pods())

    def check(self, pod: str, node: str) -> Answer:
        """Returns whether a pod may run on a node."""
        return self._native.check(pod, node)

    def check_nodes(self, pod: str, nodes: Optional[Sequence[str]] = None) -> List[bool]:
        """Returns for each of ``nodes``, or for each node of :meth:`nodes`, whether a pod may run there."""
        return self._native.check_nodes(pod, nodes)

    def schedule(self, pod: str, node: str) -> Answer:
        """Puts a pod on a node if it may run there."""
        return self._native.schedule(pod, node)

    def schedule_on_any(self, pod: str, nodes: Optional[Sequence[str]] = None) -> Optional[str]:
        """Puts a pod on the first of these nodes, or of all, where it may run. Returns the node, if there is one."""
        return self._native.schedule_on_any(pod, nodes)

    def unschedule(self, pod: str) -> bool:
        """Removes a pod from its node. Returns whether it had one."""
        return self._native.unschedule(pod)

    def decide(self, pod: str) -> Dict[str, Any]:
        """Returns the decision about a pod, in the format of ``schedc evaluate``."""
        return json.loads(self._native.decide(pod))

    def explain(self, pod: str) -> Any:
        """Returns the decision about a pod as a table: the verdict and the scores of each node. Scores are columns, by plugin."""
        decision = self.decide(pod)
        rows = []
        for node, verdict in decision["nodes"].items():
            row = {"node": node, "chosen": node == decision["chosen"], "code": verdict["code"]}
            row.update(plugin=verdict.get("plugin", ""), reasons=", ".join(verdict.get("reasons", [])))
            row.update(total=verdict.get("total"), **verdict.get("scores", {}))
            rows.append(row)
        return table(rows)

    def estimate(self, template: Objects, pods: Sequence[str], max_nodes: int) -> Dict[str, Any]:
        """Returns the number of new nodes that pods need. The template is a node with the pods on each copy of it."""
        return json.loads(self._native.estimate(manifests(template), pods, max_nodes))

    def requests(self, requests: Iterable[Mapping[str, Any]]) -> List[Dict[str, Any]]:
        """Answers many requests with one call. Each answer has a ``result`` or an ``error``."""
        lines = "\n".join(map(json.dumps, requests))
        return [json.loads(line) for line in self._native.requests(lines).splitlines()]


def evaluate_lines(
    scenarios: Iterable[Union[str, bytes, Mapping[str, Any]]],
    profiles: Optional[Profiles] = None,
    profile: Optional[str] = None,
) -> Iterator[bytes]:
    """Evaluates scenarios. Yields the lines that ``schedc evaluate`` writes, without their ends."""
    evaluator = _native.Evaluator((profiles or Profiles())._native, profile)
    for scenario in scenarios:
        text = json.dumps(scenario) if isinstance(scenario, Mapping) else scenario
        yield evaluator.evaluate(text.encode() if isinstance(text, str) else text)


def evaluate(
    scenarios: Iterable[Union[str, bytes, Mapping[str, Any]]],
    profiles: Optional[Profiles] = None,
    profile: Optional[str] = None,
) -> Any:
    """Evaluates scenarios, and returns a table with a row for each decision: scenario, profile, pod, node,
    number of feasible nodes, and message.

    It is a data frame where pandas is installed, otherwise a list of dictionaries.
    """
    rows = []
    for line in evaluate_lines(scenarios, profiles, profile):
        results = json.loads(line)
        for decision in results["results"]:
            rows.append(
                {
                    "scenario": results["id"],
                    "profile": results["profile"],
                    "pod": decision["pod"],
                    "node": decision["chosen"],
                    "feasible": len(decision["feasible"]),
                    "message": decision["message"],
                }
            )
    return table(rows)
