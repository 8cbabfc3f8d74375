"""A text that the caller's side brings along: out of a file or stdin, or as a person edited it. Pure.

The daemon opens no file for a caller. It says what is wanted, the face reads it, and here it is judged.
"""

import os
from typing import Annotated, TypeVar

from msgspec import Meta, Struct, structs

from termvisor.errors import BadRequest

LIMIT = 1 << 20
"""Bytes of a text."""
STDIN = "-"
S = TypeVar("S", bound=Struct)

FromStdin = Annotated[bool, Meta(description="Read the text from stdin. A text of just `-` says the same.")]
FromFile = Annotated[
    str | None, Meta(description="Read the text from this file; `-` is stdin.", extra={"is_path": True})
]


class Unclean:
    """An Input whose text may be any bytes that a pane could print: logs are seldom clean."""

    __slots__ = ()


def source(wanted: Struct) -> str | None:
    """Where the caller's side must look for the text: a path, or `-` for stdin. None: it is here already."""
    text, file, is_stdin = (getattr(wanted, name, None) for name in ("text", "file", "stdin"))
    sources = [*([STDIN] if is_stdin else []), *([file] if file else []), *([text] if text else [])]
    if len(sources) > 1:
        raise BadRequest("the text is given more than once", hint="Give words, or --stdin, or --file.")
    return STDIN if sources == [STDIN] else file


def named(path: str, cwd: str) -> str:
    """A path as seen from anywhere; `-` is no path."""
    return path if path == STDIN else os.path.join(cwd, path)


def filled(wanted: S, data: bytes, trouble: str = "") -> S:
    """The same Input with the text that was brought."""
    place = source(wanted) or "the text"
    place = "stdin" if place == STDIN else place
    if trouble:
        raise BadRequest(f"{place} cannot be read: {trouble}", hint="Check the path.")
    cleared = {name: off for name, off in (("stdin", False), ("file", None)) if hasattr(wanted, name)}
    if isinstance(wanted, Unclean):
        data = data.replace(b"\0", b"").decode(errors="replace").encode()
    return structs.replace(wanted, text=text_of(data, place), **cleared)


def text_of(data: bytes, place: str) -> str:
    """What was read, without the one newline that ends a file."""
    data = data.removesuffix(b"\n")
    if len(data) > LIMIT:
        raise BadRequest(f"{place} has more than {LIMIT} bytes", hint="Give it in parts; to an agent, name the file.")
    if (nul := data.find(b"\0")) >= 0:
        raise BadRequest(f"{place} has a NUL at byte {nul}", hint="It must be text.")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise BadRequest(f"{place} is not UTF-8 at byte {error.start}", hint="Convert it first, with iconv.") from error
    if not text:
        raise BadRequest(f"{place} is empty", hint="Give a file that has something in it.")
    return text
