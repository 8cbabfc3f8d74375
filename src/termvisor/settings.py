"""Every setting once: type, default, doc. The config file, environment names, docs and schema come from this table.

The only file that reads the environment. Precedence: environment, then config file, then default.
"""

import os
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct

from termvisor.errors import ConfigError, StorageError, Unavailable
from termvisor.model.action.notification import find_notification_problems
from termvisor.model.agent import price, program_rule
from termvisor.model.paths import Paths as Paths  # noqa: PLC0414 - whoever wants settings wants these too
from termvisor.model.settings import accounts, agents, limits_and_compaction, workflows
from termvisor.model.settings.workflows import WorkflowSettings
from termvisor.regex import dialect
from termvisor.system.regular_file import open_regular_file

LogLevel = Literal["debug", "info", "warning", "error"]
_DAEMON_RESTART, _FULL_RESTART = {"restart": "visor daemon restart"}, {"restart": "visor down && visor up"}
"""What a changed value waits for; without it, a reload is enough. The recorder outlives the daemon's restart."""
_LINE_SEPARATED_SETTINGS = frozenset(
    {"redact_patterns", "notify_command", "agent_programs", "agent_prices", "agent_resume", "compaction_prompts"}
)
_MAX_SOCKET_DIR_BYTES = 100
"""A Unix socket path may have 107 bytes; ours ends in a name of at most seven more."""


class Settings(WorkflowSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a user may set, in `config.toml` or as `VISOR_<NAME>` in the environment."""

    tmux_sockets: Annotated[
        tuple[str, ...] | None,
        Meta(
            description="tmux sockets to watch, as paths or names (`-L`). Unset: the default one and all others found."
        ),
    ] = None
    tmux_program: Annotated[str, Meta(description="The tmux program.", min_length=1, extra=_DAEMON_RESTART)] = "tmux"
    thin_interval: Annotated[
        float, Meta(description="Seconds between two short listings of all panes.", ge=0.1, le=60)
    ] = 1.0
    full_interval: Annotated[
        float,
        Meta(
            description="Seconds between two full listings; grows to a minute while nothing at all happens.",
            ge=1,
            le=600,
        ),
    ] = 10.0
    baseline_lines: Annotated[
        int, Meta(description="Lines of scrollback kept when listening to a pane begins.", ge=0, le=100_000)
    ] = 2000
    flush_interval: Annotated[
        float, Meta(description="Seconds that settled lines wait to be stored together.", ge=0.01, le=5)
    ] = 0.15
    segment_bytes: Annotated[
        int,
        Meta(
            description="Size at which the recorder starts the next raw segment.",
            ge=4096,
            le=1 << 30,
            extra=_FULL_RESTART,
        ),
    ] = 8 << 20
    recorder_cap_bytes: Annotated[
        int,
        Meta(
            description="What the recorder may write while no daemon runs; then it closes the pipes.",
            ge=1 << 16,
            extra=_FULL_RESTART,
        ),
    ] = 2 << 30
    retention: Annotated[
        float,
        Meta(description="Days that text, events, ended sends and questions are kept; 0: for ever.", ge=0, le=36_500),
    ] = 30.0
    raw_retention: Annotated[
        float | None,
        Meta(description="Days that raw bytes are kept; 0 for ever. Unset: as long as the text."),
    ] = None
    total_bytes: Annotated[
        int,
        Meta(description="What raw log and database may take together; the oldest goes first. 0 sets no limit.", ge=0),
    ] = 20 << 30
    pane_bytes: Annotated[
        int, Meta(description="How many of its newest raw bytes are kept of each pane. 0 sets no limit.", ge=0)
    ] = 0
    compress: Annotated[bool, Meta(description="Compress raw segments that are complete.")] = True
    mask_raw: Annotated[bool, Meta(description="Overwrite recognised secrets in raw segments that are complete.")] = (
        True
    )
    maintenance_interval: Annotated[
        float, Meta(description="Seconds between two rounds of masking, compressing and deleting.", ge=1, le=86_400)
    ] = 300.0
    snapshot_interval: Annotated[
        float,
        Meta(
            description="Minutes between two copies of the database to snapshot.db; one more at the stop. 0: none.",
            ge=0,
            le=10_080,
        ),
    ] = 0.0
    redact_patterns: Annotated[
        tuple[str, ...], Meta(description="Further regular expressions whose matches are secrets.")
    ] = ()
    redact_allow: Annotated[
        tuple[str, ...],
        Meta(description="Kinds of secrets to leave alone, for example `password_assignment`."),
    ] = ()
    log_level: Annotated[LogLevel, Meta(description="How much the daemon logs.", extra={"env": "VISOR_LOG"})] = "info"
    log_bytes: Annotated[int, Meta(description="Size at which the log file is rotated.", ge=10_000)] = 5_000_000
    colour: Annotated[
        Literal["auto", "always", "never"], Meta(description="Colours in human output; NO_COLOR means never.")
    ] = "auto"


class SettingInfo(Struct, frozen=True):
    """One setting as docs, `config show` and `config init` need it."""

    name: str
    type: str
    default: Any
    doc: str
    env: str
    restart: str = ""
    """What makes a running daemon take over a changed value, where `visor config reload` does not."""
    is_keyed: bool = False
    """A list of `name=value`: setting one name leaves the others as they are."""


def list_settings() -> list[SettingInfo]:
    hints = get_type_hints(Settings, include_extras=True)
    defaults = {field.name: field.default for field in msgspec.structs.fields(Settings)}
    return [
        SettingInfo(
            name,
            _format_type(hint),
            defaults[name],
            _get_meta(hint).description or "",
            _get_env_name(name, hint),
            _get_restart_command(hint),
            bool((_get_meta(hint).extra or {}).get("keyed")),
        )
        for name, hint in sorted(hints.items(), key=lambda item: item[0] not in Settings.__annotations__)
    ]


def resolve_paths(environ: Mapping[str, str] | None = None) -> Paths:
    env = os.environ if environ is None else environ
    home = env.get("HOME") or os.path.expanduser("~")
    config = env.get("VISOR_CONFIG_DIR") or f"{env.get('XDG_CONFIG_HOME') or home + '/.config'}/termvisor"
    data = env.get("VISOR_DATA_DIR") or f"{env.get('XDG_DATA_HOME') or home + '/.local/share'}/termvisor"
    runtime = env.get("VISOR_RUNTIME_DIR") or (
        f"{env['XDG_RUNTIME_DIR']}/termvisor" if env.get("XDG_RUNTIME_DIR") else f"/tmp/termvisor-{os.getuid()}"  # noqa: S108 - made 0700 and checked by make_private
    )
    return Paths(*(os.path.abspath(path) for path in (config, data, runtime)))


def make_private_folder(path: str) -> None:
    """Create a folder that only this user can enter; refuse one that belongs to somebody else or is a link."""
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
        found = os.lstat(path)
    except OSError as error:
        raise Unavailable(
            f"cannot create {path}: {error.strerror}", hint="Check the folder's rights and free space."
        ) from error
    if stat.S_ISLNK(found.st_mode) and os.stat(path).st_uid == os.getuid():
        found = os.stat(path)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise Unavailable(
            f"{path} is not a folder of yours",
            hint="Set VISOR_RUNTIME_DIR or VISOR_DATA_DIR to a folder of your own.",
        )
    if found.st_mode & (stat.S_ISVTX | stat.S_IWOTH):
        raise Unavailable(
            f"{path} is open to everybody and will not be made private",
            hint="Name a folder of your own, for example one inside it.",
        )
    if found.st_mode & 0o077:
        os.chmod(path, 0o700)


def make_instance_folders(paths: Paths) -> None:
    """Make the folders this instance writes to."""
    if len(os.fsencode(paths.runtime_dir)) > _MAX_SOCKET_DIR_BYTES:
        raise ConfigError(
            f"the runtime folder's path is too long for a Unix socket: {paths.runtime_dir}",
            hint=f"Set VISOR_RUNTIME_DIR to a path of at most {_MAX_SOCKET_DIR_BYTES} bytes.",
        )
    for path in (paths.runtime_dir, paths.data_dir, paths.raw_dir, paths.cache_dir, os.path.dirname(paths.log_file)):
        make_private_folder(path)


def load_nonce(path: str) -> str:
    """The sign by which the marks of our own shells are known: made once, readable by this user only.

    What is no nonce is replaced; two who ask at once get the same one.
    """
    try:
        return _read_nonce(path) or _make_nonce(path)
    except OSError as error:
        raise StorageError(f"cannot keep the nonce in {path}: {error.strerror}") from error


def _read_nonce(path: str) -> str:
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            text = file.read(100).strip()
    except FileNotFoundError:
        return ""
    return text if re.fullmatch("[0-9a-f]{32}", text) else ""


def _make_nonce(path: str) -> str:
    make_private_folder(os.path.dirname(path))
    fresh = f"{path}.{os.getpid()}"
    with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="ascii") as file:
        file.write(os.urandom(16).hex() + "\n")
    try:
        os.link(fresh, path)  # never over one that somebody made meanwhile
        os.unlink(fresh)
    except FileExistsError:
        os.unlink(fresh) if _read_nonce(path) else os.replace(fresh, path)
    return _read_nonce(path)


def load_settings(paths: Paths, environ: Mapping[str, str] | None = None) -> Settings:
    values = dict(read_config_file(paths.config_file))
    values.update(_read_environment(os.environ if environ is None else environ))
    return validate_settings(values, f"{paths.config_file} or the environment")


def validate_settings(values: Mapping[str, Any], origin: str) -> Settings:
    """The settings that these values make. What is wrong with them is told of their ``origin``."""
    given = flatten_tables(values, origin)
    if why := accounts.find_accounts_problem(given.get("accounts", ())):
        raise ConfigError(f"{origin}: {why}")
    try:
        settings = msgspec.convert(given, Settings, strict=False)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{origin}: {error}") from error
    _check_patterns(settings)
    for complaint in find_notification_problems(settings):
        raise ConfigError(f"{origin}: {complaint}")
    if why := limits_and_compaction.find_prompt_problem(settings.continue_prompt):
        raise ConfigError(f"{origin}: continue_prompt {why}")
    if settings.raw_retention is not None and not 0 <= settings.raw_retention <= 36_500:
        raise ConfigError(f"{origin}: raw_retention: {settings.raw_retention:g} is not between 0 and 36500 days")
    return settings


def flatten_tables(values: Mapping[str, Any], origin: str) -> dict[str, Any]:
    """Settings by their whole names: `ways` in the table `[notify]` is `notify_ways`."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        is_table = isinstance(value, dict) and name not in Settings.__struct_fields__
        held = (
            flatten_tables({f"{name}_{inner}": one for inner, one in value.items()}, origin)
            if is_table
            else {name: value}
        )
        for double in held.keys() & found.keys():
            raise ConfigError(f"{origin}: {double} is set twice, in its table and by its whole name")
        found |= held
    return found


def parse_setting_text(setting: SettingInfo, text: str) -> Any:
    """What a text on a command line or in the environment means as this setting; a list may also be one of TOML."""
    return _split_list(text, setting.name) if "tuple" in setting.type else text


def read_config_file(path: str) -> dict[str, Any]:
    """The config file as it stands; an absent one is an empty one."""
    try:
        with open(path, "rb", opener=open_regular_file) as file:
            return flatten_tables(tomllib.load(file), path)
    except FileNotFoundError:
        return {}
    except (ValueError, RecursionError) as error:  # also for numbers too long and tables too deep
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
    """Names and paths stand between commas or colons; a pattern or an argument may hold those and stands on a line."""
    with suppress(tomllib.TOMLDecodeError):
        found = tomllib.loads(f"list = {text}")["list"] if text.startswith("[") else [0]
        if all(isinstance(one, str | dict) for one in found):
            return list(found)
    return [part for part in re.split(r"\n" if name in _LINE_SEPARATED_SETTINGS else r"[,:\n]", text) if part]


def _check_patterns(settings: Settings) -> None:
    for pattern in settings.redact_patterns:
        if why := dialect.find_pattern_problem(pattern):
            raise ConfigError(f"redact_patterns: {pattern[:200]!r} is not a regular expression we can use: {why}")
    for name, complaint in (
        ("agent_programs", program_rule.find_program_rule_problem),
        ("agent_prices", price.find_price_problem),
        ("agent_resume", agents.find_resume_line_problem),
        ("workflow_modes", workflows.find_mode_entry_problem),
        ("compaction_prompts", limits_and_compaction.find_compaction_line_problem),
    ):
        for rule in getattr(settings, name):
            if why := complaint(rule):
                raise ConfigError(f"{name}: {rule[:200]!r} {why}")


def _get_meta(hint: Any) -> Meta:
    return next(item for item in get_args(hint)[1:] if isinstance(item, Meta))


def _get_env_name(name: str, hint: Any) -> str:
    return str((_get_meta(hint).extra or {}).get("env", f"VISOR_{name.upper()}"))


def _get_restart_command(hint: Any) -> str:
    return str((_get_meta(hint).extra or {}).get("restart", ""))


def _format_type(hint: Any) -> str:
    inner = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    if get_origin(inner) is Literal:
        return " | ".join(repr(value) for value in get_args(inner))
    if isinstance(inner, type) and not get_args(inner):
        return inner.__name__
    return re.sub(r"[a-z_]\w*\.(?=\w)", "", str(inner))


def get_tmux_socket_folder(environ: Mapping[str, str] | None = None) -> str:
    """Where this user's tmux keeps its sockets."""
    env = os.environ if environ is None else environ
    return f"{os.path.realpath(env.get('TMUX_TMPDIR') or '/tmp')}/tmux-{os.getuid()}"  # noqa: S108 - tmux's own rule


def get_home_folder() -> str:
    """Where this user is at home."""
    return os.environ.get("HOME") or os.path.expanduser("~")


def get_environment() -> dict[str, str]:
    """The environment that programs we start inherit."""
    return dict(os.environ)
