"""Run `visor config edit` in a terminal: open the config file in the user's editor until it is valid."""

import os
import shutil

from termvisor.errors import ConfigError, Unavailable
from termvisor.frontends.cli.editor import EditCancelled, find_editor
from termvisor.frontends.cli.fast_client import write_all
from termvisor.ops.config.config_edit import ConfigEditArgs
from termvisor.ops.config.config_init import write_template
from termvisor.ops.config.config_validate import find_config_warnings
from termvisor.ops.render.text import sanitize, sanitize_lines
from termvisor.settings import Settings, find_old_forms, load_settings, resolve_paths
from termvisor.system.subprocesses import run_in_terminal

_FALLBACK_EDITORS = ("editor", "nano", "vi")


def run_config_edit(_args: ConfigEditArgs) -> int:
    """Return 0 if the file is valid in the end. The user's own editor writes it, so nothing of ours can be lost."""
    editor, path = _choose_editor(), resolve_paths().config_file
    is_new = not os.path.exists(path)
    if is_new:
        write_template(path)
    before = _read_file(path)
    while True:
        if (status := run_in_terminal([*editor, path])) != 0:
            raise Unavailable(f"{editor[0]} exited with status {status}", hint=f"The file is {path}.")
        try:
            settings = load_settings(resolve_paths())
            break
        except ConfigError as error:
            write_all(2, sanitize_lines(f"visor: {error.message}\n").encode())
            if not _is_repeated():
                hint = "A running daemon keeps its settings; without a valid file none starts.\n"
                write_all(2, hint.encode())
                return error.exit_status
    if is_new and _read_file(path) == before:
        os.unlink(path)
    write_all(1, _describe_result(path, settings, is_changed=_read_file(path) != before).encode())
    return 0


def _choose_editor() -> list[str]:
    try:
        if editor := find_editor():
            return editor
    except EditCancelled as error:
        raise Unavailable(str(error), hint="Set EDITOR, for example: export EDITOR=nano") from error
    if found := next(filter(shutil.which, _FALLBACK_EDITORS), None):
        return [found]
    raise Unavailable("no editor found", hint="Set EDITOR, for example: export EDITOR=nano")


def _read_file(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _is_repeated() -> bool:
    write_all(2, b"Edit it again? [Y/n] ")
    answer = os.read(0, 4096)
    # The end of input is no answer: a closed terminal must not open an editor again and again.
    return answer.strip().lower() in (b"", b"y", b"yes") and answer != b""


def _describe_result(path: str, settings: Settings, *, is_changed: bool) -> str:
    if not is_changed:
        return sanitize(f"{path}: unchanged") + "\n"
    warnings = [f"warning: {text}" for text in (*find_old_forms(path), *find_config_warnings(settings))]
    lines = [f"{path}: valid", *warnings, "Run `visor config reload` to apply it to a running daemon."]
    return sanitize_lines("\n".join(lines)) + "\n"
