"""Simulations, explanations, replays and back-tests, with the commands of the program."""

import csv
import json
import os
import pathlib
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Union

from . import _toml
from ._errors import Error
from ._objects import Objects, manifests, rows_of
from ._program import Call, PathLike, absolute, call
from ._results import Result, flat, table

if TYPE_CHECKING:
    from . import Profiles

Profile = Union[str, "os.PathLike[str]", Mapping[str, Any]]
TraceMapping = Union[str, pathlib.Path, Mapping[str, Any]]


class Simulation(Result):
    """The result of :func:`simulate`."""

    @property
    def summary(self) -> Dict[str, Any]:
        """Numbers of pods, of attempts and of events, and times."""
        return self.raw["summary"]

    @property
    def placements(self) -> Any:
        """The pods with a node: ``pod``, ``node``, ``created``, ``at``, ``waited`` and ``attempts``."""
        return self._rows("placements", "pod", "node", "created", "at", "waited", "attempts")

    @property
    def unschedulable(self) -> Any:
        """The pods without a node, and the reason: ``pod``, ``message``, ``created`` and ``attempts``."""
        return self._rows("unschedulable", "pod", "message", "created", "attempts")

    @property
    def preempted(self) -> Any:
        """The preempted pods: ``pod``, ``node``, ``by`` and ``at``."""
        return self._rows("preempted", "pod", "node", "by", "at")

    @property
    def utilisation(self) -> Any:
        """The requested and the allocatable amount of each resource at the end."""
        return self._rows("utilisation", "resource", "unit", "requested", "allocatable", "percent")

    @property
    def over_time(self) -> Any:
        """Numbers of pods in intervals of virtual time."""
        return self._rows("overTime", "from", "to", "created", "placed", "deleted", "preempted", "pending", "running")

    @property
    def log(self) -> Any:
        """All events, if they are requested."""
        return self._rows("log")

    def _tables(self) -> Mapping[str, Any]:
        numbers = {key: self.summary[key] for key in ("pods", "placed", "unschedulable", "preempted", "skipped", "nodes")}
        return {
            "Simulation": [numbers],
            "Utilisation": self.utilisation,
            "Placements": self.placements,
            "Unschedulable": self.unschedulable,
            "Preempted": self.preempted,
        }


class Explanation(Result):
    """The result of :func:`explain`."""

    @property
    def node(self) -> Optional[str]:
        """The chosen node."""
        return self.raw["node"]

    @property
    def message(self) -> Optional[str]:
        """The reason why no node was chosen."""
        return self.raw["message"]

    @property
    def nodes(self) -> Any:
        """A row for each node: whether it is ``chosen`` and ``feasible``, ``plugin`` and ``reasons`` of its rejection, ``total``, and
        weighted scores by plugin. ``plugin`` is empty if several plugins together exclude the node in PreFilter.
        """
        rows = []
        for node in self.raw["nodes"]:
            rejections = node.get("rejections", [])
            row = {"node": node["node"], "chosen": node["node"] == self.node, "feasible": node["feasible"]}
            row["plugin"] = rejections[0].get("plugin", "") if rejections else ""
            row["reasons"] = ", ".join(reason for rejection in rejections for reason in rejection["reasons"])
            row["total"] = node.get("total")
            row.update({score["plugin"]: score["weighted"] for score in node.get("scores", [])})
            rows.append(row)
        return table(rows)

    @property
    def remedies(self) -> Any:
        """Changes with which the pod would have a node: ``changes``, ``node`` and ``disturbance``; the smallest one first."""
        found = (self.raw.get("remedies") or {}).get("found", [])
        rows = [{**remedy, "changes": "; ".join(change["text"] for change in remedy["changes"])} for remedy in found]
        return table(rows, ["changes", "node", "disturbance"])

    def _tables(self) -> Mapping[str, Any]:
        result = {"pod": self.raw["pod"], "profile": self.raw["profile"], "node": self.node, "message": self.message}
        return {"Decision": [result], "Nodes": self.nodes, "Remedies": self.remedies}


class Replay(Result):
    """The result of :func:`replay`."""

    @property
    def agreement(self) -> Any:
        """Numbers of decisions by profile and result; empty for a closed loop."""
        return self._rows("agreement", "profile")

    @property
    def disagreements(self) -> Any:
        """The recorded decisions that differ from those of the profile; empty for a closed loop."""
        return self._rows("disagreements", "at", "place", "pod", "profile", "result")

    @property
    def pods(self) -> Any:
        """The history of each pod in a closed loop; otherwise empty."""
        return self._rows("pods", "pod", "priority", "created", "bound", "node", "ended", "state")

    def _tables(self) -> Mapping[str, Any]:
        return {"Agreement": self.agreement, "Disagreements": self.disagreements, "Pods": self.pods}


class Backtest(Result):
    """The result of :func:`backtest`."""

    @property
    def metrics(self) -> Any:
        """A row for each profile and metric: its ``mean`` over the seeds, and the ``low`` and ``high`` end of its confidence interval.

        ``difference.mean``, ``difference.low`` and ``difference.high`` compare it with the first profile.
        """
        return table(self._metrics(), ["profile", "metric", "of", "unit", "better", "mean", "low", "high"])

    @property
    def comparison(self) -> Any:
        """The means of the metrics: a row for each metric, a column for each profile."""
        rows: Dict[Any, Dict[str, Any]] = {}
        for metric in self._metrics():
            key = (metric["metric"], metric["of"])
            row = rows.setdefault(key, {"metric": metric["metric"], "of": metric["of"], "unit": metric["unit"]})
            row[metric["profile"]] = metric["mean"]
        return table(list(rows.values()), ["metric", "of", "unit"])

    @property
    def series(self) -> Any:
        """Means over the seeds at equidistant times, for each profile."""
        rows = []
        for profile in self.raw["profiles"]:
            for point in profile["series"]:
                resources = {resource["resource"]: resource for resource in point.get("resources", [])}
                numbers = {key: value for key, value in point.items() if key != "resources"}
                rows.append({"profile": _name(profile), **numbers, **{k: _without_name(v) for k, v in resources.items()}})
        return table(flat(rows))

    @property
    def influence(self) -> Any:
        """The influence of each score plugin on decisions, for each profile."""
        return table(flat({"profile": _name(profile), **plugin} for profile in self.raw["profiles"] for plugin in profile["plugins"]))

    @property
    def assumptions(self) -> List[str]:
        """The assumptions of the simulations."""
        return self.raw["assumptions"]

    def _metrics(self) -> List[Dict[str, Any]]:
        rows = []
        for profile in self.raw["profiles"]:
            for metric in flat(profile["metrics"]):
                row = {"profile": _name(profile), "metric": metric.pop("name"), "of": metric.pop("of", "")}
                row.update({key[len("estimate.") :] if key.startswith("estimate.") else key: value for key, value in metric.items()})
                rows.append(row)
        return rows

    def _tables(self) -> Mapping[str, Any]:
        return {"Back-test": self.comparison}


def simulate(
    objects: Objects,
    profile: Optional[str] = None,
    profiles: "Optional[Profiles]" = None,
    *,
    events: Optional[Sequence[Mapping[str, Any]]] = None,
    trace: bool = False,
    until: Optional[str] = None,
    seed: int = 0,
    log: bool = False,
    defaults: bool = True,
    program: Optional[PathLike] = None,
) -> Simulation:
    """Places all pending pods of a cluster in virtual time, as ``schedc simulate`` does.

    ``profile`` serves all pods; without it, each pod is served by the profile with its scheduler name. ``profiles`` are interpreted;
    without them, those of the program are used. ``events`` change the cluster over time, such as
    ``{"at": "12.5s", "delete": {"kind": "Node", "name": "a"}}``; ``trace`` reads times from annotations.
    """
    with call(program) as command:
        arguments = ["simulate", "-", f"--seed={seed}", *_served_by(command, profile, profiles), *_flags(log=log, trace=trace)]
        if events is not None:
            arguments += ["--events", command.write("events.jsonl", "\n".join(map(json.dumps, events)))]
        if until is not None:
            arguments += ["--until", until]
        arguments += _flags(no_api_defaults=not defaults)
        return Simulation(*command.run(arguments, manifests(objects)))


def explain(
    objects: Objects,
    pod: str,
    profile: Optional[str] = None,
    profiles: "Optional[Profiles]" = None,
    *,
    after: bool = False,
    against: Optional[str] = None,
    all_filters: bool = False,
    seed: int = 0,
    defaults: bool = True,
    program: Optional[PathLike] = None,
) -> Explanation:
    """Explains the decision about a pod node by node, with remedies for an unschedulable pod, as ``schedc explain`` does.

    With ``after``, other pending pods are placed first. ``against`` names a node, with which the chosen one is compared.
    """
    with call(program) as command:
        arguments = ["explain", pod, "-", f"--seed={seed}", *_served_by(command, profile, profiles)]
        arguments += _flags(after=after, all_filters=all_filters, no_api_defaults=not defaults)
        if against is not None:
            arguments += ["--against", against]
        return Explanation(*command.run(arguments, manifests(objects)))


def replay(
    recording: Union[PathLike, Sequence[PathLike]],
    profile: Optional[str] = None,
    profiles: "Optional[Profiles]" = None,
    *,
    closed_loop: bool = False,
    mapping: Optional[TraceMapping] = None,
    seed: int = 0,
    program: Optional[PathLike] = None,
) -> Replay:
    """Compares the decisions of a recording with those of a profile, as ``schedc replay`` does.

    With ``closed_loop``, the profile decides instead of the recorded scheduler. ``mapping`` then reads a trace, as in :func:`backtest`.
    """
    with call(program) as command:
        arguments = ["replay", *_paths(recording), *_served_by(command, profile, profiles)]
        if closed_loop:
            arguments += ["--closed-loop", f"--seed={seed}"]
        if mapping is not None:
            arguments += ["--trace-mapping", _mapping(command, mapping)]
        return Replay(*command.run(arguments))


def backtest(
    workload: "Union[PathLike, Sequence[PathLike], Mapping[str, Any]]",
    profiles: Mapping[str, Profile],
    *,
    mapping: Optional[TraceMapping] = None,
    seeds: int = 10,
    sweep: Sequence[str] = (),
    without_each_score: bool = False,
    price_label: Optional[str] = None,
    samples: int = 100,
    influence: int = 100,
    threads: Optional[int] = None,
    progress: Optional[bool] = None,
    program: Optional[PathLike] = None,
) -> Backtest:
    """Compares profiles on a workload with many seeds, as ``schedc backtest`` does.

    The workload is a recording, or a trace with a ``mapping``. A trace is a folder, or its tables by file name; a mapping is a file
    (``pathlib.Path``), a text in TOML, or a dictionary. Profiles have names; each is a text in TOML, a dictionary, or a file. The first one
    is the baseline. Where tqdm is installed, a progress bar is shown for longer runs, unless ``progress`` is false.
    """
    with call(program) as command:
        arguments = ["backtest", *(_write_profile(command, name, profile) for name, profile in profiles.items())]
        if isinstance(workload, Mapping):
            for name, content in workload.items():
                _write_table(command, name, content)
            paths = ["."]
        else:
            paths = _paths(workload)
        arguments += ["--on", *paths, f"--seeds={seeds}", f"--samples={samples}", f"--influence={influence}"]
        if mapping is not None:
            arguments += ["--trace-mapping", _mapping(command, mapping)]
        if price_label is not None:
            arguments += ["--price-label", price_label]
        if threads is not None:
            arguments += ["--threads", str(threads)]
        for parameter in sweep:
            arguments += ["--sweep", parameter]
        arguments += _flags(without_each_score=without_each_score)
        return Backtest(*command.run(arguments, progress=progress))


def _served_by(command: Call, profile: Optional[str], profiles: "Optional[Profiles]") -> List[str]:
    arguments = [] if profile is None else ["--profile", profile]
    for name, text in profiles.texts.items() if profiles is not None else ():
        arguments += ["--interpret", command.write_profile(name, text)]
    return arguments


def _write_profile(command: Call, name: str, profile: Profile) -> str:
    if not name or "/" in name or name.startswith((".", "-")):
        raise Error("invalid-profile", f"`{name}` is no name of a profile: it is the name of a file without `.toml`")
    if isinstance(profile, Mapping):
        text = _toml.dumps(profile)
    elif isinstance(profile, str):
        text = profile
    else:
        text = pathlib.Path(profile).read_text(encoding="utf-8")
    return command.write_profile(f"{name}.toml", text)


def _mapping(command: Call, mapping: TraceMapping) -> str:
    if isinstance(mapping, pathlib.Path):
        return absolute(mapping)
    return command.write("trace-mapping.toml", mapping if isinstance(mapping, str) else _toml.dumps(mapping))


def _write_table(command: Call, name: str, content: Any) -> None:
    if "/" in name or not name.endswith(".csv"):
        raise ValueError(f"a table of a trace has the name of a file such as pods.csv, not `{name}`")
    rows = list(rows_of(content))
    columns = list(dict.fromkeys(column for row in rows for column in row))
    with command.folder.joinpath(name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)


def _paths(paths: Union[PathLike, Sequence[PathLike]]) -> List[str]:
    several = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    return [absolute(path) for path in several]


def _flags(**flags: bool) -> List[str]:
    return ["--" + name.replace("_", "-") for name, is_set in flags.items() if is_set]


def _without_name(resource: Mapping[str, Any]) -> Dict[str, Any]:
    return {key: value for key, value in resource.items() if key != "resource"}


def _name(profile: Mapping[str, Any]) -> str:
    parameters = "".join(f" {parameter['name']}={parameter['value']}" for parameter in profile.get("parameters", []))
    return profile["name"].removeprefix("./").removesuffix(".toml") + parameters
