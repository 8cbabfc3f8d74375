"""The daemon's log: redacted, rotated by size, readable only by this user."""

import contextlib
import logging
import os
from typing import TextIO

from termvisor.redaction import redact
from termvisor.settings import Settings

_LINE_FORMAT = "%(asctime)s %(levelname)-7s %(name)s: %(message)s"


def get_logger(name: str) -> logging.Logger:
    return logging.getLogger(f"visor.{name}")


def configure_log_file(path: str, settings: Settings) -> None:
    """Log to a private, rotated file instead of the current handlers."""
    handler = _RotatingFileHandler(path, settings.log_bytes)
    handler.setFormatter(_RedactingFormatter(_LINE_FORMAT))
    root = logging.getLogger("visor")
    for previous in list(root.handlers):
        root.removeHandler(previous)
        previous.close()
    root.addHandler(handler)
    root.setLevel(settings.log_level.upper())
    root.propagate = False


class _RedactingFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return redact(super().format(record))


class _RotatingFileHandler(logging.StreamHandler[TextIO]):
    """Rotates the file by size, keeping one older file (`.1`)."""

    def __init__(self, path: str, max_bytes: int):
        self._path, self._max_bytes = path, max_bytes
        super().__init__(self._open_file())

    def _open_file(self) -> TextIO:
        return os.fdopen(
            os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600),
            "a",
            encoding="utf-8",
            errors="replace",
        )

    def emit(self, record: logging.LogRecord) -> None:
        super().emit(record)
        with contextlib.suppress(OSError):  # a full disk must not stop the daemon
            if self.stream.tell() > self._max_bytes:
                os.replace(self._path, self._path + ".1")
                full, self.stream = self.stream, self._open_file()
                full.close()

    def close(self) -> None:
        self.stream.close()
        super().close()
