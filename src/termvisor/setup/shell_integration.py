"""Build the shell integration snippet and find the startup file of each shell."""

import os
import shlex
from collections.abc import Mapping
from contextlib import suppress
from typing import Literal, get_args

from termvisor.errors import Unsupported

Shell = Literal["bash", "zsh", "fish"]
SHELLS: tuple[Shell, ...] = get_args(Shell)
_SNIPPET_FOLDER = os.path.join(os.path.dirname(__file__), "snippets")
_LOGIN_FILES = (".bash_profile", ".bash_login", ".profile")


def build_snippet(shell: Shell, nonce_file: str) -> bytes:
    """Return the shell code. It contains the path of the nonce file, never the nonce itself."""
    with open(os.path.join(_SNIPPET_FOLDER, f"termvisor.{shell}"), "rb") as file:
        return file.read().replace(b"@NONCE_FILE@", os.fsencode(_quote_path(nonce_file, shell)))


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
    """Return the startup file that the shell reads when it starts interactively."""
    home = environ.get("HOME") or os.path.expanduser("~")
    config = environ.get("XDG_CONFIG_HOME") or f"{home}/.config"
    paths: dict[Shell, str] = {
        "bash": f"{home}/.bashrc",
        "zsh": f"{environ.get('ZDOTDIR') or home}/.zshrc",
        "fish": f"{config}/fish/conf.d/termvisor.fish",
    }
    return os.path.abspath(paths[shell])


def find_login_shell_warning(shell: Shell, environ: Mapping[str, str]) -> str | None:
    """Warn if a bash in tmux does not read the startup file: tmux starts login shells, which read another file."""
    if shell != "bash":
        return None
    home = os.path.dirname(get_startup_path(shell, environ))
    login_file = next((path for name in _LOGIN_FILES if os.path.exists(path := f"{home}/{name}")), None)
    if login_file is None:
        return f"tmux starts login shells, which read {home}/.bash_profile: add `. ~/.bashrc` there"
    with suppress(OSError), open(login_file, "rb") as file:
        if b"bashrc" in file.read():
            return None
    return f"tmux starts login shells, which read {login_file}: add `. ~/.bashrc` there"
