"""A text in the person's own editor, or on one line where they named none."""

import os
import shlex
import tempfile

from termvisor.frontends.cli.fast_client import write_all
from termvisor.settings import get_environment
from termvisor.system.subprocesses import run_in_terminal


class EditCancelled(Exception):
    """There is no new text, and why."""


def edit_text(data: bytes) -> bytes | None:
    """The text as the person left it; None, told to them, where it is as before, empty, or could not be edited."""
    try:
        return _edit_checked(data, find_editor())
    except EditCancelled as why:
        write_all(2, f"{why}\n".encode())
        return None


def _edit_checked(data: bytes, editor: list[str]) -> bytes:
    if not editor and b"\n" in data:
        raise EditCancelled("A text of several lines needs an editor: set VISUAL or EDITOR.")
    new = _edit_in_editor(editor, data) if editor else _edit_one_line(data)
    if not new.strip():
        raise EditCancelled("The text is empty now.")
    if new == data:
        raise EditCancelled("The text is as it was.")
    return new


def find_editor() -> list[str]:
    """The editor that the person named, with its words; none is an empty list."""
    known = get_environment()
    name = known.get("VISUAL") or known.get("EDITOR") or ""
    try:
        return shlex.split(name)
    except ValueError as error:
        raise EditCancelled(f"the editor's name cannot be read: {name}") from error


def _edit_in_editor(editor: list[str], data: bytes) -> bytes:
    with tempfile.TemporaryDirectory(prefix="visor-") as folder:
        path = f"{folder}/text"
        with open(path, "wb", opener=_open_private) as file:
            file.write(data + b"\n")
        status = run_in_terminal([*editor, path])
        if status != 0:
            raise EditCancelled(f"{editor[0]} ended with status {status}.")
        with open(path, "rb") as file:
            return file.read().removesuffix(b"\n")


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _edit_one_line(data: bytes) -> bytes:
    import readline  # a person who edits has the time

    readline.set_startup_hook(lambda: readline.insert_text(data.decode("utf-8", "replace")))
    try:
        return input("new text: ").encode()
    except EOFError as error:
        raise EditCancelled("The text is as it was.") from error
    finally:
        readline.set_startup_hook(None)
