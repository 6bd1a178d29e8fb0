"""The C library of schedc. Its functions run without the GIL."""

import array
import ctypes
import itertools
import json
import os
import pathlib
import sys
from typing import Any, Dict, List, Optional, Sequence, Tuple

OK, REJECTED = 0, 1
# The type code of addresses and sizes.
_SIZE = {4: "I", 8: "Q"}[ctypes.sizeof(ctypes.c_size_t)]
_NAMES = {
    4: "panicked",
    10: "invalid-profile",
    11: "unknown-profile",
    12: "invalid-objects",
    13: "unknown-kind",
    14: "unknown-pod",
    15: "unknown-node",
    16: "invalid-scenario",
    17: "invalid-request",
}


class Error(Exception):
    """An error of schedc, with a stable code such as ``unknown-pod``."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Text(ctypes.Structure):
    """A text for one call: its owner keeps the bytes."""

    _fields_ = [("data", ctypes.c_char_p), ("length", ctypes.c_size_t)]

    @staticmethod
    def of(text: "str | bytes") -> "Text":
        data = text.encode() if isinstance(text, str) else text
        return Text(data, len(data))


class Buffer(ctypes.Structure):
    """A result of the library."""

    _fields_ = [("data", ctypes.c_void_p), ("length", ctypes.c_size_t)]


class Source(ctypes.Structure):
    """The name and the text of a profile."""

    _fields_ = [("name", Text), ("text", Text)]


def _load() -> ctypes.CDLL:
    name = "libschedc_c.dylib" if sys.platform == "darwin" else "libschedc_c.so"
    path = os.environ.get("SCHEDC_LIBRARY") or str(pathlib.Path(__file__).with_name(name))
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"{path}: {error}; install the wheel, or set SCHEDC_LIBRARY to the file of {name}") from error
    library.schedc_version.restype = Text
    for function in ("profiles_free", "cluster_free", "evaluator_free"):
        getattr(library, f"schedc_{function}").argtypes = [ctypes.c_void_p]
        getattr(library, f"schedc_{function}").restype = None
    handle, text, size, out = ctypes.c_void_p, Text, ctypes.c_size_t, ctypes.POINTER(Buffer)
    made, texts = ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(Text)
    functions: Dict[str, List[Any]] = {
        "profiles_parse": [ctypes.POINTER(Source), size, made],
        "evaluator_new": [handle, made],
        "evaluator_use_profile": [handle, text],
        "evaluator_evaluate": [handle, text],
        "evaluator_hints": [handle, text],
        "cluster_new": [handle, text, made],
        "cluster_apply": [handle, text, ctypes.c_bool],
        "cluster_delete": [handle, text, text, text],
        "cluster_clear": [handle],
        "cluster_fork": [handle],
        "cluster_commit": [handle],
        "cluster_revert": [handle],
        "cluster_check": [handle, text, text],
        "cluster_check_nodes": [handle, text, texts, size, ctypes.POINTER(ctypes.c_bool)],
        "cluster_schedule": [handle, text, text],
        "cluster_schedule_on_any": [handle, text, texts, size],
        "cluster_unschedule": [handle, text],
        "cluster_decide": [handle, text],
        "cluster_estimate": [handle, text, texts, size, size],
        "cluster_requests": [handle, text],
    }
    for function, arguments in functions.items():
        getattr(library, f"schedc_{function}").argtypes = [*arguments, out]
        getattr(library, f"schedc_{function}").restype = ctypes.c_int
    return library


_library = _load()


def version() -> str:
    """Returns the version of schedc."""
    text = _library.schedc_version()
    return ctypes.string_at(text.data, text.length).decode()


def call(function: str, *arguments: Any) -> Tuple[bool, bytes]:
    """Calls a function. Returns whether its status is OK and not a rejection, and its answer."""
    out = Buffer(None, 0)
    status = getattr(_library, f"schedc_{function}")(*arguments, ctypes.byref(out))
    content = b""
    if out.data:
        content = ctypes.string_at(out.data, out.length)
        _library.schedc_buffer_free(ctypes.byref(out))
    if status not in (OK, REJECTED):
        raise Error(_NAMES.get(status, f"status-{status}"), content.decode())
    return status == OK, content


def texts(values: Sequence[str]) -> "ctypes.Array[Text]":
    """Returns an array of texts. They share one buffer, because a structure for each of them takes longer than its check."""
    encoded = [value.encode() for value in values]
    lengths = list(map(len, encoded))
    content = ctypes.create_string_buffer(b"".join(encoded))
    starts = itertools.accumulate(lengths, initial=ctypes.addressof(content))
    fields = array.array(_SIZE, itertools.chain.from_iterable(zip(starts, lengths)))
    result = (Text * len(values)).from_buffer(fields) if values else (Text * 0)()
    # The array has addresses only; it must live as long as their content.
    setattr(result, "content", content)
    return result


def sources(profiles: Sequence[Tuple[str, str]]) -> "ctypes.Array[Source]":
    """Returns an array of profiles."""
    return (Source * len(profiles))(*(Source(Text.of(name), Text.of(text)) for name, text in profiles))


class Handle:
    """A handle, which is released with this object."""

    def __init__(self, kind: str, *arguments: Any) -> None:
        self._kind = kind
        self._value: Optional[int] = None
        made = ctypes.c_void_p()
        call(f"{kind}_{'parse' if kind == 'profiles' else 'new'}", *arguments, ctypes.byref(made))
        self._value = made.value

    def call(self, operation: str, *arguments: Any) -> Tuple[bool, bytes]:
        """Calls a function with this handle."""
        return call(f"{self._kind}_{operation}", self, *arguments)

    @property
    def _as_parameter_(self) -> Optional[int]:
        """The pointer. A call has the handle itself as its argument, so the handle lives until the call ends."""
        return self._value

    def __del__(self) -> None:
        if self._value and _library is not None:
            getattr(_library, f"schedc_{self._kind}_free")(self._value)


def loads(content: bytes) -> Any:
    """Reads an answer in JSON."""
    return json.loads(content) if content else None


def table(rows: List[Dict[str, Any]], columns: Sequence[str] = ()) -> Any:
    """Returns rows as a data frame where pandas is installed. An empty one has these columns."""
    try:
        import pandas
    except ImportError:
        return rows
    return pandas.DataFrame(rows) if rows else pandas.DataFrame(columns=list(columns))
