"""Objects and files of the tests."""

import importlib.util
import pathlib
import struct
import unittest

CHECKOUT = pathlib.Path(__file__).resolve().parents[3]


def node(name, cpu="2", **metadata):
    status = {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "10"}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, **metadata}, "status": status}


def pod(name, cpu="1", **spec):
    containers = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": containers, **spec}}


def records(table):
    """Returns the rows of a table, with and without pandas. Missing values are `None`."""
    rows = table if isinstance(table, list) else table.to_dict("records")
    return [{key: None if value != value else value for key, value in row.items()} for row in rows]


def needs(*packages):
    """Skips a test unless these packages of PyPI are installed."""
    missing = [package for package in packages if importlib.util.find_spec(package) is None]
    return unittest.skipIf(missing, f"{', '.join(missing)}: not installed; pip install './bindings/python[test]'")


def zstd(content):
    """Returns a frame of zstd that contains these bytes uncompressed."""
    blocks, size = b"", 100_000
    parts = [content[at : at + size] for at in range(0, len(content), size)]
    for at, part in enumerate(parts):
        blocks += struct.pack("<I", len(part) << 3 | (at == len(parts) - 1))[:3] + part
    # The header: a single segment, and its size in four bytes.
    return b"\x28\xb5\x2f\xfd\xa0" + struct.pack("<I", len(content)) + blocks
