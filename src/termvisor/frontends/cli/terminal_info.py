"""Detect the terminal's width and whether to use colours. Imports nothing slow, because most commands use it."""

import os

from termvisor.frontends.cli.fast_client import get_config_path
from termvisor.protocol.command_protocol import TerminalInfo

# Importing `typing` would cost more than the rest of this module. Type checkers understand this idiom.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def detect_terminal(environ: "Mapping[str, str] | None" = None, descriptor: int = 1) -> TerminalInfo:
    """Return the terminal of a descriptor. Without a terminal the width is 0, which disables truncation."""
    env = os.environ if environ is None else environ  # noqa: TID251 - COLUMNS and NO_COLOR belong to the terminal
    is_terminal = os.isatty(descriptor)
    colour_mode = choose_colour_mode(env)
    return TerminalInfo(
        _detect_width(env, descriptor) if is_terminal else 0,
        is_terminal,
        colour_mode == "always" or (colour_mode != "never" and is_terminal),
    )


def choose_colour_mode(environ: "Mapping[str, str]") -> str:
    """Return the setting `colour` from the environment, else from the config file if it exists."""
    mode = environ.get("VISOR_COLOUR") or ("never" if environ.get("NO_COLOR") else "")
    return mode or (_read_configured_mode(environ) if os.path.exists(get_config_path(environ)) else "auto")


def _read_configured_mode(environ: "Mapping[str, str]") -> str:
    # Import only if there is a config file, because settings are slow to import.
    from termvisor.errors import ConfigError
    from termvisor.settings import load_settings, resolve_paths

    try:
        return load_settings(resolve_paths(environ), environ).colour
    except ConfigError:
        return "auto"  # the command itself reports the error


def _detect_width(environ: "Mapping[str, str]", descriptor: int) -> int:
    columns = environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return int(columns)
    try:
        # Some terminals, such as serial lines, report 0 columns.
        return os.get_terminal_size(descriptor).columns or 80
    except OSError:
        return 80
