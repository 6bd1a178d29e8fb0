"""Results of commands: tables, and reports for notebooks."""

import html
import json
import os
import pathlib
from typing import Any, Dict, Iterable, List, Mapping, Sequence, Union

_SHOWN = 20


class Report:
    """A report with charts and tables as an HTML page, which makes no connections. Notebooks display it."""

    def __init__(self, page: str) -> None:
        self.html = page

    def save(self, path: "Union[str, os.PathLike[str]]") -> None:
        """Writes the page to a file."""
        pathlib.Path(path).write_text(self.html, encoding="utf-8")

    def _repr_html_(self) -> str:
        # The page has scripts. A frame isolates them, and its sandbox keeps them away from the notebook.
        frame = "width:100%;height:720px;border:1px solid #8884"
        return f'<iframe sandbox="allow-scripts allow-downloads" style="{frame}" srcdoc="{html.escape(self.html)}"></iframe>'


class Result:
    """The result of a command. ``raw`` has the content of its output in JSON."""

    def __init__(self, raw: Dict[str, Any], page: str) -> None:
        self.raw = raw
        self.report = Report(page)

    def _tables(self) -> Mapping[str, Any]:
        return {}

    def _rows(self, key: str, *columns: str) -> Any:
        return table(flat(self.raw.get(key, [])), columns)

    def _repr_html_(self) -> str:
        parts = (_html(name, content) for name, content in self._tables().items() if len(content))
        return "".join(parts)


def table(rows: List[Dict[str, Any]], columns: Sequence[str] = ()) -> Any:
    """Returns rows as a data frame where pandas is installed, otherwise unchanged. An empty data frame has ``columns``."""
    try:
        import pandas
    except ImportError:
        return rows
    return pandas.DataFrame(rows) if rows else pandas.DataFrame(columns=list(columns))


def flat(rows: Iterable[Mapping[str, Any]]) -> List[Dict[str, Any]]:
    """Returns rows whose nested objects are columns such as ``estimate.mean``."""
    return [dict(_flat(row, "")) for row in rows]


def _flat(row: Mapping[str, Any], prefix: str) -> Iterable[Any]:
    for key, value in row.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def _html(name: str, content: Any) -> str:
    rows = content if isinstance(content, list) else content.to_dict("records")
    columns = list(dict.fromkeys(column for row in rows for column in row))
    head = "".join(f"<th>{html.escape(str(column))}</th>" for column in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(_cell(row.get(column)))}</td>" for column in columns) + "</tr>" for row in rows[:_SHOWN]
    )
    more = f"<p>and {len(rows) - _SHOWN} more</p>" if len(rows) > _SHOWN else ""
    return f"<h4>{html.escape(name)}</h4><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _cell(value: Any) -> str:
    if value is None or value != value:
        return ""
    if isinstance(value, float):
        return f"{value:.4g}"
    return value if isinstance(value, str) else json.dumps(value, default=str)
