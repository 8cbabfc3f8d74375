"""Read the input text of a command line from a file or stdin, with the rights of the client.

The daemon never opens files for clients; it only checks the text and words the errors. Imports nothing slow: every
command line passes through here.
"""

import os

from termvisor.frontends.cli.fast_client import write_all
from termvisor.protocol.command_protocol import InputText

MAX_INPUT_BYTES = (1 << 20) + 2
"""One byte more than the limit of a text with its final newline, so that the daemon can report a text too long."""


def read_input(source: bytes) -> InputText:
    """Read a file, or stdin for ``-``; errors are returned in ``error``."""
    try:
        return InputText(_read_stdin() if source == b"-" else _read_file(source))
    except OSError as error:
        return InputText(error=error.strerror or "cannot be read")


def _read_file(path: bytes) -> bytes:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return _read_to_end(descriptor)
    finally:
        os.close(descriptor)


def _read_stdin() -> bytes:
    if os.isatty(0) and os.isatty(2):
        write_all(2, b"Type the text; end it with Ctrl-D on an empty line.\n")
    return _read_to_end(0)


def _read_to_end(descriptor: int) -> bytes:
    data = bytearray()
    while len(data) < MAX_INPUT_BYTES and (chunk := os.read(descriptor, min(1 << 16, MAX_INPUT_BYTES - len(data)))):
        data += chunk
    return bytes(data)
