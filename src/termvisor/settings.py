"""Declare all settings and load them from the environment and `config.toml`.

Types, defaults and descriptions are declared once; the config file, the environment names, the docs and the schema are
derived from them. Precedence: environment, config file, default. This is the only module that reads the environment.
"""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct

from termvisor.errors import ConfigError
from termvisor.model.agent import price, program_rule
from termvisor.model.paths import Paths as Paths  # noqa: PLC0414 - re-exported: modules that use settings need it too
from termvisor.model.settings import accounts, agents, workflows
from termvisor.model.settings.notifications import find_notification_problems
from termvisor.model.settings.workflows import WorkflowSettings
from termvisor.regex import dialect
from termvisor.system.files import make_private_folder, open_regular_file

LogLevel = Literal["debug", "info", "warning", "error"]
_DAEMON_RESTART, _FULL_RESTART = {"restart": "visor daemon restart"}, {"restart": "visor down && visor up"}
"""Commands that apply a changed value if a reload does not. A daemon restart keeps the recorder running."""
_LINE_SEPARATED_SETTINGS = frozenset(
    {"redact_patterns", "notify_command", "agent_programs", "agent_prices", "agent_resume", "compaction_prompts"}
)
FOLDER_VARIABLES = ("VISOR_CONFIG_DIR", "VISOR_DATA_DIR", "VISOR_RUNTIME_DIR")
_MAX_SOCKET_DIR_BYTES = 100
"""sun_path holds 107 bytes, of which our longest socket name takes seven."""


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
        ),
    ] = 0.25
    full_interval: Annotated[
        float,
        Meta(
            description="Most seconds between two listings of a tmux server that does something while no pane prints.",
            ge=1,
            le=600,
        ),
    ] = 15.0
    baseline_lines: Annotated[
        int, Meta(description="Lines of scrollback stored when the capture of a pane starts.", ge=0, le=100_000)
    ] = 2000
    flush_interval: Annotated[
        float, Meta(description="Seconds to buffer complete lines before they are stored in one batch.", ge=0.01, le=5)
    ] = 0.25
    segment_bytes: Annotated[
        int,
        Meta(
            description="Bytes after which the recorder starts a new raw segment.",
            ge=4096,
            le=1 << 30,
            extra=_FULL_RESTART,
        ),
    ] = 8 << 20
    recorder_cap_bytes: Annotated[
        int,
        Meta(
            description="Bytes the recorder may write while no daemon is running; then it closes its pipes.",
            ge=1 << 16,
            extra=_FULL_RESTART,
        ),
    ] = 2 << 30
    retention: Annotated[
        float,
        Meta(
            description="Days to keep text, events, finished sends and approval requests. 0: no limit.", ge=0, le=36_500
        ),
    ] = 30.0
    raw_retention: Annotated[
        float | None,
        Meta(description="Days to keep raw bytes. 0: no limit. Unset: same as `retention`."),
    ] = None
    total_bytes: Annotated[
        int,
        Meta(
            description="Maximum bytes of raw log and database together; oldest data is deleted first. 0: no limit.",
            ge=0,
        ),
    ] = 20 << 30
    pane_bytes: Annotated[
        int, Meta(description="Maximum raw bytes to keep for each pane, newest first. 0: no limit.", ge=0)
    ] = 0
    compress: Annotated[bool, Meta(description="Compress completed raw segments.")] = True
    mask_raw: Annotated[bool, Meta(description="Overwrite detected secrets in completed raw segments.")] = True
    maintenance_interval: Annotated[
        float,
        Meta(description="Seconds between two maintenance runs (masking, compression, retention).", ge=1, le=86_400),
    ] = 300.0
    snapshot_interval: Annotated[
        float,
        Meta(
            description="Minutes between two copies of the database to snapshot.db; one more on shutdown. 0: none.",
            ge=0,
            le=10_080,
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
    log_bytes: Annotated[int, Meta(description="Bytes after which the log file is rotated.", ge=10_000)] = 5_000_000
    colour: Annotated[
        Literal["auto", "always", "never"], Meta(description="Colours in text output; NO_COLOR means never.")
    ] = "auto"


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
    """True for a list of `name=value` entries that are set and unset individually."""


def list_settings() -> list[SettingInfo]:
    """Return the metadata of all settings, starting with those declared in `Settings` itself."""
    hints = get_type_hints(Settings, include_extras=True)
    defaults = {field.name: field.default for field in msgspec.structs.fields(Settings)}
    return [
        SettingInfo(
            name,
            _format_type(hint),
            defaults[name],
            _get_meta(hint).description or "",
            _get_env_name(name, hint),
            str((_get_meta(hint).extra or {}).get("restart", "")),
            bool((_get_meta(hint).extra or {}).get("keyed")),
        )
        for name, hint in sorted(hints.items(), key=lambda item: item[0] not in Settings.__annotations__)
    ]


def resolve_paths(environ: Mapping[str, str] | None = None) -> Paths:
    """Return the config, data and runtime folders: `VISOR_*_DIR`, then the XDG variables, then their defaults."""
    env = os.environ if environ is None else environ
    home = env.get("HOME") or os.path.expanduser("~")
    config = env.get("VISOR_CONFIG_DIR") or f"{env.get('XDG_CONFIG_HOME') or home + '/.config'}/termvisor"
    data = env.get("VISOR_DATA_DIR") or f"{env.get('XDG_DATA_HOME') or home + '/.local/share'}/termvisor"
    runtime = env.get("VISOR_RUNTIME_DIR") or (
        f"{env['XDG_RUNTIME_DIR']}/termvisor" if env.get("XDG_RUNTIME_DIR") else f"/tmp/termvisor-{os.getuid()}"  # noqa: S108 - made 0700 and checked by make_private_folder
    )
    return Paths(*(os.path.abspath(path) for path in (config, data, runtime)))


def make_instance_folders(paths: Paths) -> None:
    """Create the folders that this instance writes to. Raises ConfigError if the socket path would be too long."""
    if len(os.fsencode(paths.runtime_dir)) > _MAX_SOCKET_DIR_BYTES:
        raise ConfigError(
            f"the path of the runtime folder is too long for a Unix socket: {paths.runtime_dir}",
            hint=f"Set VISOR_RUNTIME_DIR to a path of at most {_MAX_SOCKET_DIR_BYTES} bytes.",
        )
    folders = (paths.runtime_dir, paths.shell_state_dir, paths.data_dir, paths.raw_dir, paths.cache_dir)
    for path in (*folders, os.path.dirname(paths.log_file)):
        make_private_folder(path)


def load_settings(paths: Paths, environ: Mapping[str, str] | None = None) -> Settings:
    """Load and validate the settings of this instance. Raises ConfigError."""
    values = dict(read_config_file(paths.config_file))
    values.update(_read_environment(os.environ if environ is None else environ))
    return validate_settings(values, f"{paths.config_file} or the environment")


def validate_settings(values: Mapping[str, Any], origin: str) -> Settings:
    """Convert values to settings. Raises ConfigError with a message that starts with ``origin``."""
    flat_values = flatten_tables(values, origin)
    if problem := accounts.find_accounts_problem(flat_values.get("accounts", ())):
        raise ConfigError(f"{origin}: {problem}")
    try:
        # strict=False: environment values are text, even for numbers and booleans.
        settings = msgspec.convert(flat_values, Settings, strict=False)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{origin}: {error}") from error
    _check_patterns(settings)
    for problem in find_notification_problems(settings):
        raise ConfigError(f"{origin}: {problem}")
    if problem := workflows.find_prompt_problem(settings.continue_prompt):
        raise ConfigError(f"{origin}: continue_prompt {problem}")
    if settings.raw_retention is not None and not 0 <= settings.raw_retention <= 36_500:
        raise ConfigError(f"{origin}: raw_retention: {settings.raw_retention:g} is not between 0 and 36500 days")
    return settings


def flatten_tables(values: Mapping[str, Any], origin: str) -> dict[str, Any]:
    """Return settings keyed by full name: `ways` in the table `[notify]` becomes `notify_ways`."""
    flat_values: dict[str, Any] = {}
    for name, value in values.items():
        is_table = isinstance(value, dict) and name not in Settings.__struct_fields__
        entries = (
            flatten_tables({f"{name}_{key}": item for key, item in value.items()}, origin)
            if is_table
            else {name: value}
        )
        for duplicate in entries.keys() & flat_values.keys():
            raise ConfigError(f"{origin}: {duplicate} is set twice, in its table and by its full name")
        flat_values |= entries
    return flat_values


def parse_setting_text(setting: SettingInfo, text: str) -> Any:
    """Parse a value from the command line or the environment. A list may be a TOML array."""
    return _split_list(text, setting.name) if "tuple" in setting.type else text


def read_config_file(path: str) -> dict[str, Any]:
    """Parse the config file; a missing file counts as empty. Raises ConfigError."""
    try:
        with open(path, "rb", opener=open_regular_file) as file:
            return flatten_tables(tomllib.load(file), path)
    except FileNotFoundError:
        return {}
    except (
        ValueError,
        RecursionError,
    ) as error:  # not only syntax errors: also integers with too many digits and tables nested too deeply
        raise ConfigError(f"{path}: {error}") from error
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from error


def _read_environment(env: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    for name, hint in get_type_hints(Settings, include_extras=True).items():
        text = env.get(_get_env_name(name, hint))
        if text is None and name == "colour" and env.get("NO_COLOR"):
            text = "never"
        if text and text.encode("utf-8", "ignore") != os.fsencode(text):
            raise ConfigError(f"{_get_env_name(name, hint)} in the environment is not UTF-8")
        if text is not None and text != "":
            yield name, _split_list(text, name) if "tuple" in _format_type(hint) else text


def _split_list(text: str, name: str) -> list[Any]:
    """Split a list at commas, colons and newlines. Patterns and commands contain those, so split them at newlines."""
    with suppress(tomllib.TOMLDecodeError):
        items = tomllib.loads(f"list = {text}")["list"] if text.startswith("[") else [0]
        if all(isinstance(item, str | dict) for item in items):
            return list(items)
    return [part for part in re.split(r"\n" if name in _LINE_SEPARATED_SETTINGS else r"[,:\n]", text) if part]


def _check_patterns(settings: Settings) -> None:
    for pattern in settings.redact_patterns:
        if problem := dialect.find_pattern_problem(pattern):
            raise ConfigError(f"redact_patterns: {pattern[:200]!r} is not a supported regular expression: {problem}")
    for name, find_problem in (
        ("agent_programs", program_rule.find_program_rule_problem),
        ("agent_prices", price.find_price_problem),
        ("agent_resume", agents.find_resume_line_problem),
        ("workflow_modes", workflows.find_mode_entry_problem),
        ("compaction_prompts", workflows.find_compaction_line_problem),
    ):
        for entry in getattr(settings, name):
            if problem := find_problem(entry):
                raise ConfigError(f"{name}: {entry[:200]!r} {problem}")


def _get_meta(hint: Any) -> Meta:
    return next(item for item in get_args(hint)[1:] if isinstance(item, Meta))


def _get_env_name(name: str, hint: Any) -> str:
    return str((_get_meta(hint).extra or {}).get("env", f"VISOR_{name.upper()}"))


def _format_type(hint: Any) -> str:
    inner = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    if get_origin(inner) is Literal:
        return " | ".join(repr(value) for value in get_args(inner))
    if isinstance(inner, type) and not get_args(inner):
        return inner.__name__
    return re.sub(r"[a-z_]\w*\.(?=\w)", "", str(inner))


def get_tmux_socket_folder(environ: Mapping[str, str] | None = None) -> str:
    """Return the folder in which tmux keeps this user's sockets."""
    env = os.environ if environ is None else environ
    return f"{os.path.realpath(env.get('TMUX_TMPDIR') or '/tmp')}/tmux-{os.getuid()}"  # noqa: S108 - tmux's own rule


def get_home_folder() -> str:
    return os.environ.get("HOME") or os.path.expanduser("~")


def get_environment() -> dict[str, str]:
    """Return a copy of the environment, for child processes."""
    return dict(os.environ)
