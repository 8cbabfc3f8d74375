"""The environment of programs in own terminals: the daemon's own, without what describes another terminal."""

import os
import pwd
from collections.abc import Mapping

TERMINAL_VARIABLES = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
_FOREIGN_PREFIXES = (
    "TMUX",
    "VISOR_",
    "STY",
    "WEZTERM_",
    "KITTY_",
    "ITERM_",
    "VTE_",
    "WINDOWID",
    "ALACRITTY_",
    "GHOSTTY_",
)
_FOREIGN_NAMES = frozenset(
    {"TERM_PROGRAM", "TERM_PROGRAM_VERSION", "LINES", "COLUMNS", "TERMCAP", "LC_TERMINAL", "NO_COLOR", "INVOCATION_ID"}
)


def build_program_environment(environment: Mapping[str, str]) -> dict[str, str]:
    kept = {
        name: value
        for name, value in environment.items()
        if name not in _FOREIGN_NAMES and not name.startswith(_FOREIGN_PREFIXES)
    }
    return kept | TERMINAL_VARIABLES


def find_shell(environment: Mapping[str, str]) -> str:
    """Return the user's shell."""
    if shell := environment.get("SHELL"):
        return shell
    try:
        return pwd.getpwuid(os.getuid()).pw_shell or "/bin/sh"
    except KeyError:
        # The user has no entry, as in some containers.
        return "/bin/sh"
