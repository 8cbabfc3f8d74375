"""Validate text that the client supplies from a file, stdin or an editor. Pure.

The daemon opens no file for a client: it asks the front end for the text, and this module validates the text.
"""

import os
from typing import Annotated, TypeVar

from msgspec import Meta, Struct, structs

from termvisor.errors import BadRequest
from termvisor.ops.api.operation import CLI_FACES

MAX_TEXT_BYTES = 1 << 20
"""Maximum size of a text."""
STDIN_PATH = "-"
SECRET_PATH = "--secret"  # noqa: S105 - the name of an option
"""Not a path: the client asks the user without echo, or reads stdin."""
S = TypeVar("S", bound=Struct)

StdinFlag = Annotated[
    bool, Meta(description="Read the text from stdin; same as `-` as text.", extra={"faces": CLI_FACES})
]
TextFileOption = Annotated[
    str | None,
    Meta(description="Read the text from this file; `-` for stdin.", extra={"is_path": True, "faces": CLI_FACES}),
]


class LenientTextInput:
    """Mixin for arguments whose text may be arbitrary terminal output: NUL and invalid UTF-8 are replaced."""

    __slots__ = ()


def find_text_source(args: Struct) -> str | None:
    """Return the path from which the client must read the text, `-` for stdin, or None if the text is given.

    Raises BadRequest if more than one source is given.
    """
    if getattr(args, "secret", False) and getattr(args, "text", ""):
        # Every user of the machine sees the arguments of a program.
        raise BadRequest("a secret must not be an argument", hint="Pass it with --file or on stdin, or type it.")
    text, file, is_stdin = (getattr(args, name, None) for name in ("text", "file", "stdin"))
    # A text of `-` is the usual name of stdin, as for `cat -`.
    sources = [*([STDIN_PATH] if is_stdin else []), *([file] if file else []), *([text] if text else [])]
    if len(sources) > 1:
        raise BadRequest("more than one text source given", hint="Pass either words, --stdin or --file.")
    if not sources and getattr(args, "secret", False):
        return SECRET_PATH
    return STDIN_PATH if sources == [STDIN_PATH] else file


def make_path_absolute(path: str, cwd: str) -> str:
    """Return the absolute path; `-` is returned unchanged."""
    return path if path in (STDIN_PATH, SECRET_PATH) else os.path.join(cwd, path)


def insert_text(args: S, data: bytes, read_error: str = "") -> S:
    """Return the arguments with the text that the client read. Raises BadRequest."""
    source = find_text_source(args) or "the text"
    source = {STDIN_PATH: "stdin", SECRET_PATH: "the secret"}.get(source, source)
    if read_error:
        raise BadRequest(f"cannot read {source}: {read_error}", hint="Check the path.")
    cleared = {name: empty for name, empty in (("stdin", False), ("file", None)) if hasattr(args, name)}
    if isinstance(args, LenientTextInput):
        # Captured terminal output may contain anything, and rules must still be tested on it.
        data = data.replace(b"\0", b"").decode(errors="replace").encode()
    return structs.replace(args, text=decode_text(data, source), **cleared)


def decode_text(data: bytes, source_name: str) -> str:
    """Decode UTF-8 text, dropping the newline at the end. Raises BadRequest."""
    # Editors end a file with a newline; typed into a pane it would be an extra Enter.
    data = data.removesuffix(b"\n")
    if len(data) > MAX_TEXT_BYTES:
        raise BadRequest(
            f"{source_name} is larger than {MAX_TEXT_BYTES} bytes",
            hint="Send it in parts, or tell the agent to read the file.",
        )
    if (nul := data.find(b"\0")) >= 0:
        raise BadRequest(f"{source_name} contains a NUL at byte {nul}", hint="Only text can be sent.")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise BadRequest(
            f"{source_name} is not valid UTF-8 at byte {error.start}", hint="Convert it with iconv first."
        ) from error
    if not text:
        raise BadRequest(f"{source_name} is empty", hint="Provide a non-empty text.")
    return text
