"""Errors of schedc."""

from typing import Any, Tuple


class Error(Exception):
    """An error of schedc, with a stable code such as ``unknown-pod``."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    def __reduce__(self) -> Tuple[Any, ...]:
        # `multiprocessing` passes errors between processes with `pickle`.
        return type(self), (self.code, self.message)
