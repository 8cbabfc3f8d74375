"""Build the shell integration script and the line that reads it, find startup files, add our block or remove it.

The script is in Termvisor's data folder; the block in a startup file holds one line, which reads it if it is there.

Invariant: `remove_block(add_block(data, body)) == data` for any content, or none. The begin marker records what else
was added around the block, so that it can be removed too.
"""

import os
import re
import shlex
from collections.abc import Mapping
from contextlib import suppress
from typing import Literal, get_args

from msgspec import Struct

from termvisor.errors import ConfigError, Unsupported
from termvisor.model.paths import Paths

Shell = Literal["bash", "zsh", "fish"]
SHELLS: tuple[Shell, ...] = get_args(Shell)
_SNIPPET_FOLDER = os.path.join(os.path.dirname(__file__), "snippets")
_LOGIN_FILES = (".bash_profile", ".bash_login", ".profile")
_BEGIN_MARKER, _END_MARKER = b"# >>> visor setup shell >>>", b"# <<< visor setup shell <<<"
_BEGIN_LINE_PATTERN = re.compile(rb"^" + re.escape(_BEGIN_MARKER) + rb"([^\r\n]*)\r?\n", re.MULTILINE)
_END_LINE_PATTERN = re.compile(rb"^" + re.escape(_END_MARKER) + rb"\r?(?:\n|\Z)", re.MULTILINE)
_NOTE_FILE_CREATED, _NOTE_NEWLINE_ADDED = b" (made this file)", b" (ended the line above)"


def build_snippet(shell: Shell, paths: Paths) -> bytes:
    """Return the shell code. It contains the path of the nonce file, never the nonce itself."""
    with open(os.path.join(_SNIPPET_FOLDER, f"termvisor.{shell}"), "rb") as file:
        code = file.read()
    for name, path in ((b"@NONCE_FILE@", paths.nonce_file), (b"@STATE_DIR@", paths.shell_state_dir)):
        code = code.replace(name, os.fsencode(_quote_path(path, shell)))
    return code


def get_script_path(shell: Shell, paths: Paths) -> str:
    """Return the path of the script that startup files read."""
    return f"{paths.shell_script_dir}/termvisor.{shell}"


def build_source_line(shell: Shell, paths: Paths) -> bytes:
    """Return the line for a startup file. It does nothing without the script, or in a shell that is not bash."""
    path = _quote_path(get_script_path(shell, paths), shell)
    lines: dict[Shell, str] = {
        # Other shells than bash read ~/.profile, too, and some of them with `set -u`.
        "bash": f'[ -z "${{BASH_VERSION-}}" ] || [ ! -r {path} ] || . {path}',
        "zsh": f"[[ ! -r {path} ]] || . {path}",
        "fish": f"test -r {path}; and source {path}",
    }
    return os.fsencode(lines[shell]) + b"\n"


def _quote_path(path: str, shell: Shell) -> str:
    if shell == "fish":  # fish interprets backslashes in single quotes
        return "'" + path.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return shlex.quote(path)


def detect_shell(environ: Mapping[str, str]) -> Shell:
    """Return the user's login shell. Raises Unsupported if there is no integration for it."""
    name = os.path.basename(environ.get("SHELL", ""))
    for shell in SHELLS:
        if name == shell:
            return shell
    raise Unsupported(
        f"your shell ({name or 'unknown'}) is not supported",
        hint=f"Name one of {', '.join(SHELLS)}, for example `visor setup shell bash`.",
    )


def get_startup_path(shell: Shell, environ: Mapping[str, str]) -> str:
    """Return the startup file that an interactive shell reads."""
    home = environ.get("HOME") or os.path.expanduser("~")
    config = environ.get("XDG_CONFIG_HOME") or f"{home}/.config"
    paths: dict[Shell, str] = {
        "bash": f"{home}/.bashrc",
        "zsh": f"{environ.get('ZDOTDIR') or home}/.zshrc",
        "fish": f"{config}/fish/conf.d/termvisor.fish",
    }
    return os.path.abspath(paths[shell])


def find_skipping_login_file(shell: Shell, environ: Mapping[str, str]) -> str | None:
    """Return the file that a login bash, as tmux starts it, reads instead of the startup file; None if it reads both.

    The file may not exist, and it may hold our line already.
    """
    if shell != "bash":
        return None
    home = os.path.dirname(get_startup_path(shell, environ))
    path = next((path for name in _LOGIN_FILES if os.path.exists(path := f"{home}/{name}")), None)
    if path is None:
        return f"{home}/{_LOGIN_FILES[0]}"
    # An unreadable file is returned too, to be safe.
    with suppress(OSError), open(path, "rb") as file:
        if b"bashrc" in remove_block_if_intact(file.read()):
            return None
    return path


def list_login_files(shell: Shell, environ: Mapping[str, str]) -> list[str]:
    """Return the existing files that a login shell may read instead of the startup file."""
    home = os.path.dirname(get_startup_path(shell, environ))
    return [path for name in _LOGIN_FILES if shell == "bash" and os.path.isfile(path := f"{home}/{name}")]


class _SplitFile(Struct, frozen=True):
    head: bytes
    note: bytes
    tail: bytes


def add_block(data: bytes | None, body: bytes) -> bytes:
    """Return the content with this block, replacing an old block or at the end. ``data`` is None for no file."""
    old = _split_at_block(data or b"")
    if old is None:
        note = _NOTE_FILE_CREATED if data is None else _NOTE_NEWLINE_ADDED if data and not data.endswith(b"\n") else b""
        old = _SplitFile((data or b"") + (b"\n" if note == _NOTE_NEWLINE_ADDED else b""), note, b"")
    return old.head + _BEGIN_MARKER + old.note + b"\n" + body.rstrip(b"\n") + b"\n" + _END_MARKER + b"\n" + old.tail


def remove_block(data: bytes | None) -> bytes | None:
    """Return the content without the block; None if the file was created for it and holds nothing else."""
    split = _split_at_block(data or b"")
    if split is None:
        return data
    # Keep the newline if the user has since added text after the block.
    removes_newline = split.note == _NOTE_NEWLINE_ADDED and split.head.endswith(b"\n") and not split.tail
    rest = (split.head[:-1] if removes_newline else split.head) + split.tail
    return None if split.note == _NOTE_FILE_CREATED and not rest else rest


def remove_block_if_intact(data: bytes) -> bytes:
    """Return the content without the block, or unchanged if its marker lines are damaged."""
    with suppress(ConfigError):
        return remove_block(data) or b""
    return data


def has_block(data: bytes | None) -> bool:
    return _split_at_block(data or b"") is not None


def _split_at_block(data: bytes) -> _SplitFile | None:
    """Split the content at the block; None if there is no block. Raises ConfigError if the markers are damaged."""
    begins, ends = list(_BEGIN_LINE_PATTERN.finditer(data)), list(_END_LINE_PATTERN.finditer(data))
    if not begins and not ends:
        return None
    if len(begins) != 1 or len(ends) != 1 or ends[0].start() < begins[0].end():
        raise ConfigError(
            "the marker lines of `visor setup shell` are damaged; nothing was changed",
            hint=f"Delete the lines from `{_BEGIN_MARKER.decode()}` to `{_END_MARKER.decode()}` by hand.",
        )
    return _SplitFile(data[: begins[0].start()], begins[0][1], data[ends[0].end() :])
