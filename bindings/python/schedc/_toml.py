"""Profiles as TOML."""

import json
from typing import Any, Mapping


def dumps(profile: Mapping[str, Any]) -> str:
    """Returns a profile in TOML, with one line for each key."""
    return "".join(f"{_key(key)} = {_value(value)}\n" for key, value in profile.items())


def _key(key: str) -> str:
    # Strings of JSON are strings of TOML, except for escaped surrogates, which `ensure_ascii` would write.
    return json.dumps(key, ensure_ascii=False)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return _key(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_value, value)) + "]"
    raise TypeError(f"a profile has no values of type {type(value).__name__}")
