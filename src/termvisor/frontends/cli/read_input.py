"""The text that a command line takes from a file or from stdin, read on the caller's side: the daemon opens no files
for anybody.

Imports nothing that costs time: the fast path of the command line comes through here. What was read is judged by the
daemon, which also finds the words for what is wrong with it.
"""

import os

from termvisor.frontends.cli.fast_client import write_all
from termvisor.protocol.command_protocol import InputText

MAX_INPUT_BYTES = (1 << 20) + 2
"""More bytes than any text may have, with the newline at its end."""


def read_input(source: bytes) -> InputText:
    """All of it, or so much that it is too long; ``-`` is stdin."""
    try:
        return InputText(_read_stdin() if source == b"-" else _read_file(source))
    except OSError as error:
        return InputText(trouble=error.strerror or "it cannot be read")


def _read_file(path: bytes) -> bytes:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return _read_to_end(descriptor)
    finally:
        os.close(descriptor)


def _read_stdin() -> bytes:
    if os.isatty(0) and os.isatty(2):
        write_all(2, b"Type the text; Ctrl-D on a line of its own ends it.\n")
    return _read_to_end(0)


def _read_to_end(descriptor: int) -> bytes:
    data = bytearray()
    while len(data) < MAX_INPUT_BYTES and (chunk := os.read(descriptor, min(1 << 16, MAX_INPUT_BYTES - len(data)))):
        data += chunk
    return bytes(data)
