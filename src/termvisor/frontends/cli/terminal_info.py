"""What a person's terminal is like: its width, and whether to use colours. Cheap: most commands come through here."""

import os

from termvisor.frontends.cli.fast_client import get_config_path
from termvisor.protocol.command_protocol import TerminalInfo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def detect_terminal(environ: "Mapping[str, str] | None" = None, descriptor: int = 1) -> TerminalInfo:
    """How to answer on this descriptor. Width 0: nobody looks, shorten nothing."""
    env = os.environ if environ is None else environ  # noqa: TID251 - COLUMNS and NO_COLOR belong to the terminal
    is_terminal = os.isatty(descriptor)
    wish = choose_colour_mode(env)
    return TerminalInfo(
        _detect_width(env, descriptor) if is_terminal else 0,
        is_terminal,
        wish == "always" or (wish != "never" and is_terminal),
    )


def choose_colour_mode(environ: "Mapping[str, str]") -> str:
    """The setting `colour`: from the environment, else from the config file when there is one."""
    named = environ.get("VISOR_COLOUR") or ("never" if environ.get("NO_COLOR") else "")
    return named or (_read_configured_mode(environ) if os.path.exists(get_config_path(environ)) else "auto")


def _read_configured_mode(environ: "Mapping[str, str]") -> str:
    from termvisor.errors import ConfigError
    from termvisor.settings import load_settings, resolve_paths

    try:
        return load_settings(resolve_paths(environ), environ).colour
    except ConfigError:
        return "auto"  # the command itself will say what is wrong


def _detect_width(environ: "Mapping[str, str]", descriptor: int) -> int:
    columns = environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return int(columns)
    try:
        return os.get_terminal_size(descriptor).columns or 80
    except OSError:
        return 80
