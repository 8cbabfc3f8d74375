"""Declare the general settings, combine them with all groups, and describe every setting for docs and commands.

Types, defaults and descriptions are declared once; the config file, the environment names, the docs and the schema are
derived from them.
"""

import re
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct

from termvisor.model.settings.units import BYTES, DAYS, MINUTES, SECONDS
from termvisor.model.settings.workflows import WorkflowSettings
from termvisor.settings_file.file_layout import FileLayout

LogLevel = Literal["debug", "info", "warning", "error"]
_DAEMON_RESTART, _FULL_RESTART = {"restart": "visor daemon restart"}, {"restart": "visor down && visor up"}
"""Commands that apply a changed value if a reload does not. A daemon restart keeps the recorder running."""


class Settings(WorkflowSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All user settings: keys of `config.toml`, or `VISOR_<NAME>` in the environment."""

    tmux_sockets: Annotated[
        tuple[str, ...] | None,
        Meta(description="tmux sockets to watch, as paths or names (`-L`). Unset: the default and all others found."),
    ] = None
    tmux_program: Annotated[str, Meta(description="The tmux executable.", min_length=1, extra=_DAEMON_RESTART)] = "tmux"
    thin_interval: Annotated[
        float,
        Meta(
            description="Seconds between two looks at a tmux server's processes and terminals, which send no command.",
            ge=0.1,
            le=60,
            extra=SECONDS,
        ),
    ] = 0.25
    full_interval: Annotated[
        float,
        Meta(
            description="Most seconds between two listings of a tmux server that does something while no pane prints.",
            ge=1,
            le=600,
            extra=SECONDS,
        ),
    ] = 15.0
    baseline_lines: Annotated[
        int, Meta(description="Lines of scrollback stored when the capture of a pane starts.", ge=0, le=100_000)
    ] = 2000
    flush_interval: Annotated[
        float,
        Meta(
            description="Seconds to buffer complete lines before they are stored in one batch.",
            ge=0.01,
            le=5,
            extra=SECONDS,
        ),
    ] = 0.25
    segment_bytes: Annotated[
        int,
        Meta(
            description="Bytes after which the recorder starts a new raw segment.",
            ge=4096,
            le=1 << 30,
            extra={**_FULL_RESTART, **BYTES},
        ),
    ] = 8 << 20
    recorder_cap_bytes: Annotated[
        int,
        Meta(
            description="Bytes the recorder may write while no daemon is running; then it closes its pipes.",
            ge=1 << 16,
            extra={**_FULL_RESTART, **BYTES},
        ),
    ] = 2 << 30
    retention: Annotated[
        float,
        Meta(
            description="Days to keep text, events, finished sends and approval requests. 0: no limit.",
            ge=0,
            le=36_500,
            extra=DAYS,
        ),
    ] = 30.0
    raw_retention: Annotated[
        float | None,
        Meta(description="Days to keep raw bytes. 0: no limit. Unset: same as `retention`.", extra=DAYS),
    ] = None
    total_bytes: Annotated[
        int,
        Meta(
            description="Maximum bytes of raw log and database together; oldest data is deleted first. 0: no limit.",
            ge=0,
            extra={**BYTES, "least": 64 << 20},
        ),
    ] = 20 << 30
    pane_bytes: Annotated[
        int,
        Meta(
            description="Maximum raw bytes to keep for each pane, newest first. 0: no limit.",
            ge=0,
            extra={**BYTES, "least": 1 << 20},
        ),
    ] = 0
    compress: Annotated[bool, Meta(description="Compress completed raw segments.")] = True
    mask_raw: Annotated[bool, Meta(description="Overwrite detected secrets in completed raw segments.")] = True
    maintenance_interval: Annotated[
        float,
        Meta(
            description="Seconds between two maintenance runs (masking, compression, retention).",
            ge=1,
            le=86_400,
            extra=SECONDS,
        ),
    ] = 300.0
    snapshot_interval: Annotated[
        float,
        Meta(
            description="Minutes between two copies of the database to snapshot.db; one more on shutdown. 0: none.",
            ge=0,
            le=10_080,
            extra=MINUTES,
        ),
    ] = 0.0
    redact_patterns: Annotated[
        tuple[str, ...], Meta(description="Additional regular expressions; their matches are redacted.")
    ] = ()
    redact_allow: Annotated[
        tuple[str, ...],
        Meta(description="Kinds of secrets not to redact, for example `password_assignment`."),
    ] = ()
    log_level: Annotated[LogLevel, Meta(description="Log level of the daemon.", extra={"env": "VISOR_LOG"})] = "info"
    log_bytes: Annotated[
        int, Meta(description="Bytes after which the log file is rotated.", ge=10_000, extra=BYTES)
    ] = 5_000_000
    attach_detach_key: Annotated[
        str,
        Meta(
            description="Key that detaches `visor attach` from an own terminal: C-x, M-x or F1 to F12.",
            pattern=r"^((C|M)-[!-~]|F([1-9]|1[0-2]))$",
        ),
    ] = "C-\\"
    attach_size: Annotated[
        Literal["smallest", "latest"],
        Meta(description="Size of an own terminal with several viewers: the smallest, or that of the last who typed."),
    ] = "smallest"
    colour: Annotated[
        Literal["auto", "always", "never"], Meta(description="Colours in text output; NO_COLOR means never.")
    ] = "auto"


LAYOUT = FileLayout(Settings.__struct_fields__)


class SettingInfo(Struct, frozen=True):
    """Metadata of one setting, for the docs, `config show` and `config init`."""

    name: str
    type: str
    default: Any
    doc: str
    env: str
    restart: str = ""
    """The command that applies a changed value, if `visor config reload` does not."""
    is_keyed: bool = False
    """True for entries that are set individually: `workflow_modes unstick=off` keeps the others."""
    place: tuple[str, ...] = ()
    """The key in the config file, or the table of its entries."""
    line: str = ""
    """The form of one entry in the environment, for a setting with named entries."""
    example: Any = None
    """An example of its entries."""


def list_settings() -> list[SettingInfo]:
    """Return the metadata of all settings, starting with those declared in `Settings` itself."""
    hints = get_type_hints(Settings, include_extras=True)
    defaults = {
        field.name: {} if field.default is msgspec.NODEFAULT else field.default
        for field in msgspec.structs.fields(Settings)
    }
    return [
        SettingInfo(
            name,
            format_type(hint),
            defaults[name],
            get_meta(hint).description or "",
            get_env_name(name, hint),
            str((get_meta(hint).extra or {}).get("restart", "")),
            bool((get_meta(hint).extra or {}).get("keyed")),
            LAYOUT.get_place(name),
            str((get_meta(hint).extra or {}).get("line", "")),
            (get_meta(hint).extra or {}).get("example"),
        )
        for name, hint in sorted(hints.items(), key=lambda item: item[0] not in Settings.__annotations__)
    ]


def get_meta(hint: Any) -> Meta:
    return next(item for item in get_args(hint)[1:] if isinstance(item, Meta))


def get_env_name(name: str, hint: Any) -> str:
    return str((get_meta(hint).extra or {}).get("env", f"VISOR_{name.upper()}"))


def format_type(hint: Any) -> str:
    inner = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    if get_origin(inner) is Literal:
        return " | ".join(repr(value) for value in get_args(inner))
    if get_origin(inner) is dict:
        return "table"
    if isinstance(inner, type) and not get_args(inner):
        return inner.__name__
    return re.sub(r"[a-z_]\w*\.(?=\w)", "", str(inner))
