"""Let the user edit a text in their editor (VISUAL, EDITOR), or on one line if none is set."""

import os
import shlex
import tempfile

from termvisor.frontends.cli.fast_client import write_all
from termvisor.settings import get_environment
from termvisor.system.subprocesses import run_in_terminal


class EditCancelled(Exception):
    """The user did not produce a new text. The message is the reason."""


def edit_text(data: bytes) -> bytes | None:
    """Return the edited text; None, with the reason on stderr, if it is unchanged or empty or editing failed."""
    try:
        return _edit_checked(data, find_editor())
    except EditCancelled as reason:
        write_all(2, f"{reason}\n".encode())
        return None


def _edit_checked(data: bytes, editor: list[str]) -> bytes:
    if not editor and b"\n" in data:
        raise EditCancelled("Editing a text of several lines needs an editor: set VISUAL or EDITOR.")
    edited = _edit_in_editor(editor, data) if editor else _edit_one_line(data)
    if not edited.strip():
        raise EditCancelled("The text is empty.")
    if edited == data:
        raise EditCancelled("The text is unchanged.")
    return edited


def find_editor() -> list[str]:
    """Return the user's editor command; an empty list if none is set."""
    environment = get_environment()
    command = environment.get("VISUAL") or environment.get("EDITOR") or ""
    try:
        return shlex.split(command)
    except ValueError as error:
        raise EditCancelled(f"VISUAL or EDITOR is not a valid command: {command}") from error


def _edit_in_editor(editor: list[str], data: bytes) -> bytes:
    # Use a folder with mode 0700, because editors write swap and backup files beside the text.
    with tempfile.TemporaryDirectory(prefix="visor-") as folder:
        path = f"{folder}/text"
        with open(path, "wb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            # Editors add a final newline anyway, so add one here and remove it below.
            file.write(data + b"\n")
        status = run_in_terminal([*editor, path])
        if status != 0:
            raise EditCancelled(f"{editor[0]} exited with status {status}.")
        with open(path, "rb") as file:
            return file.read().removesuffix(b"\n")


def _edit_one_line(data: bytes) -> bytes:
    import readline  # slow to load, and only needed here

    readline.set_startup_hook(lambda: readline.insert_text(data.decode("utf-8", "replace")))
    try:
        return input("new text: ").encode()
    except EOFError as error:
        raise EditCancelled("The text is unchanged.") from error
    # The hook would otherwise fill in every later prompt of this process too.
    finally:
        readline.set_startup_hook(None)
