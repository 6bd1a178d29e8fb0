"""Objects of Kubernetes: from texts, files, dictionaries, and tables with columns."""

import json
import math
import pathlib
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Union

Objects = Union[str, pathlib.Path, Mapping[str, Any], Iterable[Mapping[str, Any]]]

_RESOURCES = {"cpu", "memory", "ephemeral-storage", "pods"}
_FILES = {".yaml", ".yml", ".json", ".jsonl"}


def manifests(objects: Objects) -> str:
    """Returns objects as one text in YAML or JSON."""
    if isinstance(objects, pathlib.Path):
        if objects.is_dir():
            files = sorted(file for file in objects.rglob("*") if file.suffix in _FILES)
            return "\n---\n".join(file.read_text(encoding="utf-8") for file in files)
        return objects.read_text(encoding="utf-8")
    if isinstance(objects, str):
        return objects
    items = [objects] if isinstance(objects, Mapping) else list(objects)
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})


def nodes(table: Any) -> List[Dict[str, Any]]:
    """Returns nodes from the rows of a table.

    The table is a data frame of pandas or Polars, a table of Arrow, a dictionary of columns, or a list of dictionaries. The column
    ``name`` is required. ``labels`` has dictionaries, and ``labels.KEY`` one label. Other columns are allocatable resources, such as
    ``cpu``, ``memory``, ``pods`` and ``example.com/gpu``: quantities, or numbers of cores, bytes or items. Without ``pods``, a node has
    room for 110 pods. Missing values are left out.
    """
    result = []
    for row in rows_of(table):
        allocatable = {"pods": "110", **_resources(row, {"name", "labels"}, "nodes")}
        result.append(_object("Node", row, status={"allocatable": allocatable, "capacity": allocatable}))
    return result


def pods(table: Any) -> List[Dict[str, Any]]:
    """Returns pods from the rows of a table, as :func:`nodes` does.

    Resources are requests. Further columns are ``namespace``, ``node`` (the pod occupies it), ``priority``, and ``scheduler``, the name
    of its scheduler.
    """
    known = {"name", "labels", "namespace", "node", "priority", "scheduler"}
    result = []
    for row in rows_of(table):
        fields = {"nodeName": "node", "priority": "priority", "schedulerName": "scheduler"}
        spec: Dict[str, Any] = {field: row[column] for field, column in fields.items() if column in row}
        if "priority" in spec:
            spec["priority"] = int(spec["priority"])
        requests = _resources(row, known, "pods")
        spec["containers"] = [{"name": "main", "image": "main", "resources": {"requests": requests}}]
        result.append(_object("Pod", row, spec=spec))
    return result


def _object(kind: str, row: Mapping[str, Any], **content: Any) -> Dict[str, Any]:
    if "name" not in row:
        raise ValueError(f"a row of a table has no `name`: {dict(row)}")
    labels = {str(key): str(value) for key, value in row.get("labels", {}).items()}
    labels.update({key[len("labels.") :]: str(value) for key, value in row.items() if key.startswith("labels.")})
    metadata: Dict[str, Any] = {"name": str(row["name"])}
    if labels:
        metadata["labels"] = labels
    if "namespace" in row:
        metadata["namespace"] = str(row["namespace"])
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, **content}


def _resources(row: Mapping[str, Any], known: "set[str]", objects: str) -> Dict[str, str]:
    resources = {}
    for column, value in row.items():
        if column in known or column.startswith("labels."):
            continue
        if column not in _RESOURCES and "/" not in column and not column.startswith("hugepages-"):
            columns = ", ".join(sorted(known | _RESOURCES))
            raise ValueError(f"{objects} have no column `{column}`; the columns are {columns}, labels.KEY, and names of resources with `/`")
        resources[column] = _quantity(value)
    return resources


def _quantity(value: Any) -> str:
    if isinstance(value, str):
        return value
    number = float(value)
    return str(int(number)) if number.is_integer() else f"{number:.9f}".rstrip("0")


def rows_of(table: Any) -> Iterator[Dict[str, Any]]:
    """Returns the rows of a table without their missing values. The libraries of tables are not imported."""
    if hasattr(table, "to_pylist"):  # Arrow
        rows = table.to_pylist()
    elif hasattr(table, "to_dicts"):  # Polars
        rows = table.to_dicts()
    elif hasattr(table, "to_dict"):  # pandas
        rows = table.to_dict("records")
    elif isinstance(table, Mapping):
        if len({len(column) for column in table.values()}) > 1:
            raise ValueError("the columns of a table have different lengths: " + ", ".join(f"{k} {len(v)}" for k, v in table.items()))
        rows = [dict(zip(table, values)) for values in zip(*table.values())]
    else:
        rows = table
    for row in rows:
        yield {str(column): value for column, value in row.items() if not _is_missing(value)}


def _is_missing(value: Any) -> bool:
    # By the name of the type: pandas is not imported, `NaT` is not equal to itself, and `NA` has no truth value.
    if value is None or isinstance(value, float) and math.isnan(value):
        return True
    return type(value).__name__ in ("NAType", "NaTType")
