"""A text that the caller's side brings along: out of a file or stdin, or as a person edited it. Pure.

The daemon opens no file for a caller. It says what is wanted, the face reads it, and here it is judged.
"""

import os
from typing import Annotated, TypeVar

from msgspec import Meta, Struct, structs

from termvisor.errors import BadRequest

MAX_TEXT_BYTES = 1 << 20
"""Bytes of a text."""
STDIN_PATH = "-"
S = TypeVar("S", bound=Struct)

StdinFlag = Annotated[bool, Meta(description="Read the text from stdin. A text of just `-` says the same.")]
TextFileOption = Annotated[
    str | None, Meta(description="Read the text from this file; `-` is stdin.", extra={"is_path": True})
]


class LenientTextInput:
    """An Input whose text may be any bytes that a pane could print: logs are seldom clean."""

    __slots__ = ()


def find_text_source(args: Struct) -> str | None:
    """Where the caller's side must look for the text: a path, or `-` for stdin. None: it is here already."""
    text, file, is_stdin = (getattr(args, name, None) for name in ("text", "file", "stdin"))
    sources = [*([STDIN_PATH] if is_stdin else []), *([file] if file else []), *([text] if text else [])]
    if len(sources) > 1:
        raise BadRequest("the text is given more than once", hint="Give words, or --stdin, or --file.")
    return STDIN_PATH if sources == [STDIN_PATH] else file


def make_path_absolute(path: str, cwd: str) -> str:
    """A path as seen from anywhere; `-` is no path."""
    return path if path == STDIN_PATH else os.path.join(cwd, path)


def insert_text(args: S, data: bytes, read_error: str = "") -> S:
    """The same Input with the text that was brought."""
    place = find_text_source(args) or "the text"
    place = "stdin" if place == STDIN_PATH else place
    if read_error:
        raise BadRequest(f"{place} cannot be read: {read_error}", hint="Check the path.")
    cleared = {name: off for name, off in (("stdin", False), ("file", None)) if hasattr(args, name)}
    if isinstance(args, LenientTextInput):
        data = data.replace(b"\0", b"").decode(errors="replace").encode()
    return structs.replace(args, text=decode_text(data, place), **cleared)


def decode_text(data: bytes, source_name: str) -> str:
    """What was read, without the one newline that ends a file."""
    data = data.removesuffix(b"\n")
    if len(data) > MAX_TEXT_BYTES:
        raise BadRequest(
            f"{source_name} has more than {MAX_TEXT_BYTES} bytes", hint="Give it in parts; to an agent, name the file."
        )
    if (nul := data.find(b"\0")) >= 0:
        raise BadRequest(f"{source_name} has a NUL at byte {nul}", hint="It must be text.")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise BadRequest(
            f"{source_name} is not UTF-8 at byte {error.start}", hint="Convert it first, with iconv."
        ) from error
    if not text:
        raise BadRequest(f"{source_name} is empty", hint="Give a file that has something in it.")
    return text
