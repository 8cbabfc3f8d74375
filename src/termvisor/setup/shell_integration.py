"""What a shell must run to tell its prompts and commands, and the start file that has it run so."""

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
    """The shell code. It holds the path of the nonce, never the nonce itself."""
    with open(os.path.join(_SNIPPET_FOLDER, f"termvisor.{shell}"), "rb") as file:
        return file.read().replace(b"@NONCE_FILE@", os.fsencode(_quote_path(nonce_file, shell)))


def _quote_path(path: str, shell: Shell) -> str:
    """In fish a backslash means something between single quotes too."""
    if shell == "fish":
        return "'" + path.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return shlex.quote(path)


def detect_shell(environ: Mapping[str, str]) -> Shell:
    """The shell of the person who asks."""
    name = os.path.basename(environ.get("SHELL", ""))
    for shell in SHELLS:
        if name == shell:
            return shell
    raise Unsupported(
        f"your shell is {name or 'unknown'}, and there is no set-up for it",
        hint=f"Name one of {', '.join(SHELLS)}, for example `visor setup shell bash`.",
    )


def get_startup_path(shell: Shell, environ: Mapping[str, str]) -> str:
    """The file that this shell reads whenever a person starts it."""
    home = environ.get("HOME") or os.path.expanduser("~")
    config = environ.get("XDG_CONFIG_HOME") or f"{home}/.config"
    paths: dict[Shell, str] = {
        "bash": f"{home}/.bashrc",
        "zsh": f"{environ.get('ZDOTDIR') or home}/.zshrc",
        "fish": f"{config}/fish/conf.d/termvisor.fish",
    }
    return os.path.abspath(paths[shell])


def find_login_shell_warning(shell: Shell, environ: Mapping[str, str]) -> str | None:
    """Why the start file may not be read in a pane: tmux starts login shells, and those of bash read another one."""
    if shell != "bash":
        return None
    home = os.path.dirname(get_startup_path(shell, environ))
    login_file = next((path for name in _LOGIN_FILES if os.path.exists(path := f"{home}/{name}")), None)
    if login_file is None:
        return f"tmux starts login shells, and they read {home}/.bash_profile: put `. ~/.bashrc` there"
    with suppress(OSError), open(login_file, "rb") as file:
        if b"bashrc" in file.read():
            return None
    return f"tmux starts login shells, and they read {login_file}: put `. ~/.bashrc` there"
