"""Every setting once: type, default, doc. The config file, environment names, docs and schema come from this table.

The only file that reads the environment. Precedence: environment, then config file, then default.
"""

import os
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct

from termvisor.errors import ConfigError, Unavailable

LogLevel = Literal["debug", "info", "warning", "error"]
_SOCKET_PATH_LIMIT = 100
"""A Unix socket path may have 107 bytes; ours ends in a name of at most seven more."""


class Places(Struct, frozen=True):
    """Where this instance keeps its files. Two instances with different places never meet."""

    config_dir: str
    data_dir: str
    runtime_dir: str

    @property
    def config_file(self) -> str:
        return f"{self.config_dir}/config.toml"

    @property
    def database(self) -> str:
        return f"{self.data_dir}/visor.db"

    @property
    def raw_dir(self) -> str:
        return f"{self.data_dir}/raw"

    @property
    def log_file(self) -> str:
        return f"{self.data_dir}/log/daemon.log"

    @property
    def cache_dir(self) -> str:
        return f"{self.data_dir}/cache"

    @property
    def nonce_file(self) -> str:
        return f"{self.data_dir}/nonce"

    @property
    def daemon_socket(self) -> str:
        return f"{self.runtime_dir}/daemon"

    @property
    def daemon_lock(self) -> str:
        return f"{self.runtime_dir}/lock"

    @property
    def recorder_socket(self) -> str:
        return f"{self.runtime_dir}/rec"

    @property
    def demo_socket(self) -> str:
        return f"{self.runtime_dir}/demo"


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a user may set, in `config.toml` or as `VISOR_<NAME>` in the environment."""

    tmux_sockets: Annotated[
        tuple[str, ...] | None,
        Meta(
            description="tmux sockets to watch, as paths or names (`-L`). Unset: the default one and all others found."
        ),
    ] = None
    tmux_program: Annotated[str, Meta(description="The tmux program.", min_length=1)] = "tmux"
    thin_interval: Annotated[
        float, Meta(description="Seconds between two short listings of all panes.", ge=0.1, le=60)
    ] = 1.0
    full_interval: Annotated[
        float, Meta(description="Seconds between two full listings while nothing happens.", ge=1, le=600)
    ] = 10.0
    baseline_lines: Annotated[
        int, Meta(description="Lines of scrollback kept when listening to a pane begins.", ge=0, le=100_000)
    ] = 2000
    flush_interval: Annotated[
        float, Meta(description="Seconds that settled lines wait to be stored together.", ge=0.01, le=5)
    ] = 0.15
    segment_bytes: Annotated[
        int, Meta(description="Size at which the recorder starts the next raw segment.", ge=4096, le=1 << 30)
    ] = 8 << 20
    recorder_cap_bytes: Annotated[
        int,
        Meta(
            description="What the recorder may write while no daemon runs; then it closes the pipes.",
            ge=1 << 16,
        ),
    ] = 2 << 30
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


class Row(Struct, frozen=True):
    """One setting as docs, `config show` and `config init` need it."""

    name: str
    type: str
    default: Any
    doc: str
    env: str


def rows() -> list[Row]:
    hints = get_type_hints(Settings, include_extras=True)
    defaults = {field.name: field.default for field in msgspec.structs.fields(Settings)}
    return [
        Row(name, _type_name(hint), defaults[name], _meta(hint).description or "", _env(name, hint))
        for name, hint in hints.items()
    ]


def places(environ: Mapping[str, str] | None = None) -> Places:
    env = os.environ if environ is None else environ
    home = env.get("HOME") or os.path.expanduser("~")
    config = env.get("VISOR_CONFIG_DIR") or f"{env.get('XDG_CONFIG_HOME') or home + '/.config'}/termvisor"
    data = env.get("VISOR_DATA_DIR") or f"{env.get('XDG_DATA_HOME') or home + '/.local/share'}/termvisor"
    runtime = env.get("VISOR_RUNTIME_DIR") or (
        f"{env['XDG_RUNTIME_DIR']}/termvisor" if env.get("XDG_RUNTIME_DIR") else f"/tmp/termvisor-{os.getuid()}"  # noqa: S108 - made 0700 and checked by make_private
    )
    return Places(*(os.path.abspath(path) for path in (config, data, runtime)))


def make_private(path: str) -> None:
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


def prepare(where: Places) -> None:
    """Make the folders this instance writes to."""
    if len(os.fsencode(where.runtime_dir)) > _SOCKET_PATH_LIMIT:
        raise ConfigError(
            f"the runtime folder's path is too long for a Unix socket: {where.runtime_dir}",
            hint=f"Set VISOR_RUNTIME_DIR to a path of at most {_SOCKET_PATH_LIMIT} bytes.",
        )
    for path in (where.runtime_dir, where.data_dir, where.raw_dir, where.cache_dir, os.path.dirname(where.log_file)):
        make_private(path)


def load(where: Places, environ: Mapping[str, str] | None = None) -> Settings:
    values = dict(read_file(where.config_file))
    values.update(_from_environment(os.environ if environ is None else environ))
    try:
        settings = msgspec.convert(values, Settings, strict=False)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{where.config_file} or the environment: {error}") from error
    _check_patterns(settings)
    return settings


def read_file(path: str) -> dict[str, Any]:
    """The config file as it stands; an absent one is an empty one."""
    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from error
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from error


def _from_environment(env: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    for name, hint in get_type_hints(Settings, include_extras=True).items():
        text = env.get(_env(name, hint))
        if text is None and name == "colour" and env.get("NO_COLOR"):
            text = "never"
        if text is not None and text != "":
            yield name, _split(text, name) if "tuple" in _type_name(hint) else text


def _split(text: str, name: str) -> list[str]:
    """Names and paths stand between commas or colons; a pattern may hold those, so patterns stand on lines."""
    return [part for part in re.split(r"\n" if name == "redact_patterns" else r"[,:\n]", text) if part]


def _check_patterns(settings: Settings) -> None:
    for pattern in settings.redact_patterns:
        try:
            re.compile(pattern)
        except re.error as error:
            raise ConfigError(f"redact_patterns: {pattern!r} is not a regular expression: {error}") from error


def _meta(hint: Any) -> Meta:
    return next(item for item in get_args(hint)[1:] if isinstance(item, Meta))


def _env(name: str, hint: Any) -> str:
    extra = _meta(hint).extra or {}
    return str(extra.get("env", f"VISOR_{name.upper()}"))


def _type_name(hint: Any) -> str:
    inner = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    if get_origin(inner) is Literal:
        return " | ".join(repr(value) for value in get_args(inner))
    if isinstance(inner, type) and not get_args(inner):
        return inner.__name__
    return str(inner).replace("typing.", "")


def tmux_folder(environ: Mapping[str, str] | None = None) -> str:
    """Where this user's tmux keeps its sockets."""
    env = os.environ if environ is None else environ
    return f"{os.path.realpath(env.get('TMUX_TMPDIR') or '/tmp')}/tmux-{os.getuid()}"  # noqa: S108 - tmux's own rule


def environment() -> dict[str, str]:
    """The environment that programs we start inherit."""
    return dict(os.environ)
