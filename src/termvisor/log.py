"""The daemon's log: one line a fact, redacted, rotated by size, private."""

import contextlib
import logging
import os
from typing import TextIO

from termvisor.redaction import redact
from termvisor.settings import Settings

_FORMAT = "%(asctime)s %(levelname)-7s %(name)s: %(message)s"


def logger(name: str) -> logging.Logger:
    return logging.getLogger(f"visor.{name}")


def to_file(path: str, settings: Settings) -> None:
    """Send the log to a private, rotated file, and no longer to where it went before."""
    handler = _Rotating(path, settings.log_bytes)
    handler.setFormatter(_Redacting(_FORMAT))
    root = logging.getLogger("visor")
    for old in list(root.handlers):
        root.removeHandler(old)
        old.close()
    root.addHandler(handler)
    root.setLevel(settings.log_level.upper())
    root.propagate = False


class _Redacting(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return redact(super().format(record))


class _Rotating(logging.StreamHandler[TextIO]):
    """Keeps one older file beside the current one."""

    def __init__(self, path: str, limit: int):
        self._path, self._limit = path, limit
        super().__init__(self._open())

    def _open(self) -> TextIO:
        return os.fdopen(
            os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600),
            "a",
            encoding="utf-8",
            errors="replace",
        )

    def emit(self, record: logging.LogRecord) -> None:
        super().emit(record)
        with contextlib.suppress(OSError):
            if self.stream.tell() > self._limit:
                os.replace(self._path, self._path + ".1")
                full, self.stream = self.stream, self._open()
                full.close()

    def close(self) -> None:
        self.stream.close()
        super().close()
