"""Load the settings from the environment and `config.toml`, and resolve the folders of an instance.

Settings are declared in `model/settings`. Precedence: environment, config file, default. This is the only module that
reads the environment.
"""

import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, get_type_hints

import msgspec

from termvisor.errors import ConfigError
from termvisor.model.agent.agent_program import find_program_problem
from termvisor.model.agent.price import find_price_problem
from termvisor.model.paths import Paths
from termvisor.model.settings import accounts, agents, workflows
from termvisor.model.settings.notifications import find_notification_problems
from termvisor.model.settings.units import parse_quantity
from termvisor.regex import dialect
from termvisor.settings_file.declarations import (
    LAYOUT,
    LogLevel,
    SettingInfo,
    Settings,
    format_type,
    get_env_name,
    get_meta,
    list_settings,
)
from termvisor.settings_file.file_layout import ENTRY_TABLES, FlatSettings, LayoutProblem, parse_lines
from termvisor.settings_file.toml_document import find_line, format_key
from termvisor.system.files import check_own_folder, make_private_folder, open_regular_file

__all__ = [
    "FOLDER_VARIABLES",
    "LAYOUT",
    "LogLevel",
    "Paths",
    "SettingInfo",
    "SettingProblem",
    "Settings",
    "check_config_text",
    "find_old_forms",
    "get_environment",
    "get_home_folder",
    "get_tmux_socket_folder",
    "list_settings",
    "load_settings",
    "make_instance_folders",
    "make_private_folder",
    "parse_config_text",
    "parse_setting_text",
    "read_config_file",
    "resolve_paths",
    "validate_settings",
]
_LINE_SEPARATED_SETTINGS = frozenset(
    {"redact_patterns", "notify_command", "agent_programs", "agent_prices", "agent_resume", "compaction_prompts"}
)
FOLDER_VARIABLES = ("VISOR_CONFIG_DIR", "VISOR_DATA_DIR", "VISOR_RUNTIME_DIR")
_MAX_SOCKET_DIR_BYTES = 100
"""sun_path holds 107 bytes, of which our longest socket name takes seven."""


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
    """Create the folders that this instance writes to.

    Raises ConfigError, before anything is created or changed, if the socket path would be too long or a folder has
    content that is not Termvisor's.
    """
    if len(os.fsencode(paths.runtime_dir)) > _MAX_SOCKET_DIR_BYTES:
        raise ConfigError(
            f"the path of the runtime folder is too long for a Unix socket: {paths.runtime_dir}",
            hint=f"Set VISOR_RUNTIME_DIR to a path of at most {_MAX_SOCKET_DIR_BYTES} bytes.",
        )
    for path in (paths.runtime_dir, paths.data_dir):
        check_own_folder(path)
    folders = (paths.runtime_dir, paths.shell_state_dir, paths.data_dir, paths.raw_dir, paths.cache_dir)
    for path in (*folders, os.path.dirname(paths.log_file)):
        make_private_folder(path)


def load_settings(paths: Paths, environ: Mapping[str, str] | None = None) -> Settings:
    """Load and validate the settings of this instance. Raises ConfigError."""
    text = _read_config_text(paths.config_file)
    flat = parse_config_text(text, paths.config_file)
    from_environment = dict(_read_environment(os.environ if environ is None else environ))
    try:
        return _convert_values({**flat.values, **from_environment})
    except SettingProblem as problem:
        if problem.name in from_environment:
            variable = next(row.env for row in list_settings() if row.name == problem.name)
            raise ConfigError(f"{variable} in the environment: {problem}") from problem
        raise ConfigError(f"{_locate(problem, flat, text, paths.config_file)}: {problem}") from problem


def validate_settings(values: Mapping[str, Any], origin: str) -> Settings:
    """Convert values to settings. Raises ConfigError with a message that starts with ``origin``."""
    try:
        return _convert_values(LAYOUT.flatten(values).values)
    except (LayoutProblem, SettingProblem) as problem:
        raise ConfigError(f"{origin}: {problem}") from problem


def parse_config_text(text: str, path: str) -> FlatSettings:
    """Parse the text of a config file. Raises ConfigError with the line."""
    try:
        return LAYOUT.flatten(tomllib.loads(text))
    except LayoutProblem as problem:
        raise ConfigError(f"{_format_line(text, path, problem.key)}: {problem}") from problem
    except (
        ValueError,
        RecursionError,
    ) as error:  # not only syntax errors: also integers with too many digits and tables nested too deeply
        raise ConfigError(f"{path}: {error}") from error


def check_config_text(text: str, path: str) -> Settings:
    """Validate the text of a config file by itself. Raises ConfigError with the line."""
    flat = parse_config_text(text, path)
    try:
        return _convert_values(flat.values)
    except SettingProblem as problem:
        raise ConfigError(f"{_locate(problem, flat, text, path)}: {problem}") from problem


def find_old_forms(path: str) -> Iterator[str]:
    """Yield a warning for each setting that the config file has in its earlier form, with the new form."""
    text = _read_config_text(path)
    flat = parse_config_text(text, path)
    for name, key in flat.old_forms.items():
        new = LAYOUT.render_entries(name, flat.values[name])
        where = _format_line(text, path, key)
        yield f"{where}: {format_key(key)} is the earlier form; write instead:\n{new}".rstrip()


def parse_setting_text(setting: SettingInfo, text: str) -> Any:
    """Parse a value from the command line or the environment. A list may be a TOML array, entries a TOML table."""
    return _parse_text(setting.name, setting.type, text)


def read_config_file(path: str) -> dict[str, Any]:
    """Return the values of the config file by setting; a missing file counts as empty. Raises ConfigError."""
    return parse_config_text(_read_config_text(path), path).values


def _read_config_text(path: str) -> str:
    try:
        with open(path, "rb", opener=open_regular_file) as file:
            return file.read().decode()
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: {error}") from error
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from error


def _format_line(text: str, path: str, key: tuple[str, ...]) -> str:
    line = find_line(text, key) if key else None
    return path if line is None else f"{path}, line {line}"


def _locate(problem: "SettingProblem", flat: FlatSettings, text: str, path: str) -> str:
    keys = flat.keys.get(problem.name, [()])
    key = next((key for key in keys if problem.entry in key), keys[0])
    return _format_line(text, path, (*key, problem.entry) if key and problem.entry not in key else key)


class SettingProblem(ValueError):
    """The value of a setting, or of one entry of it, is invalid."""

    def __init__(self, name: str, message: str, entry: str = ""):
        super().__init__(message)
        self.name, self.entry = name, entry


def _convert_values(values: Mapping[str, Any]) -> Settings:
    """Convert values by setting. Raises SettingProblem."""
    if problem := accounts.find_accounts_problem(values.get("accounts", ())):
        raise SettingProblem("accounts", problem)
    hints = get_type_hints(Settings, include_extras=True)
    converted = {name: _convert_unit(value, hints[name]) for name, value in values.items()}
    for name in ENTRY_TABLES.keys() & converted.keys():
        _check_entries(name, converted[name], hints[name])
    try:
        # strict=False: environment values are text, even for numbers and booleans.
        settings = msgspec.convert(converted, Settings, strict=False)
    except msgspec.ValidationError as error:
        problem, _, path = str(error).partition(" - at `$.")
        name = re.split(r"[^a-z_]", path, maxsplit=1)[0] or problem.partition(":")[0]
        raise SettingProblem(name, f"{name}: {problem}" if path else problem) from error
    _check_values(settings)
    return settings


def _convert_unit(value: Any, hint: Any) -> Any:
    """Return a text with a unit, such as `7d`, as a number in the unit of its setting."""
    unit = (get_meta(hint).extra or {}).get("unit")
    number = parse_quantity(value, unit) if unit and isinstance(value, str) else None
    return value if number is None else number


def _check_entries(name: str, entries: Any, hint: Any) -> None:
    """Check the entries one by one, because msgspec does not say which one of a dict is invalid."""
    checks: dict[str, Callable[[Any], str]] = {
        "agent_programs": find_program_problem,
        "agent_prices": find_price_problem,
        "agent_resume": agents.find_resume_problem,
        "compaction_prompts": workflows.find_prompt_problem,
    }
    find_problem = checks.get(name, lambda _value: "")
    for entry, value in entries.items():
        where = format_key((*LAYOUT.get_place(name), entry))
        try:
            problem = find_problem(msgspec.convert({entry: value}, hint, strict=False)[entry])
        except msgspec.ValidationError as error:
            raise SettingProblem(name, f"{name}: {where}: {str(error).partition(' - at')[0]}", entry) from error
        if problem:
            raise SettingProblem(name, f"{name}: {where} {problem}", entry)


def _check_values(settings: Settings) -> None:
    for pattern in settings.redact_patterns:
        if problem := dialect.find_pattern_problem(pattern):
            message = f"redact_patterns: {pattern[:200]!r} is not a supported regular expression: {problem}"
            raise SettingProblem("redact_patterns", message)
    for job_class in settings.job_class:
        if problem := dialect.find_pattern_problem(job_class.match):
            message = f"job_class: {job_class.match[:200]!r} is not a supported regular expression: {problem}"
            raise SettingProblem("job_class", message)
    for problem in find_notification_problems(settings):
        raise SettingProblem(problem.partition(":")[0], problem)
    if problem := workflows.find_prompt_problem(settings.continue_prompt):
        raise SettingProblem("continue_prompt", f"continue_prompt {problem}")
    if settings.raw_retention is not None and not 0 <= settings.raw_retention <= 36_500:
        message = f"raw_retention: {settings.raw_retention:g} is not between 0 and 36500 days"
        raise SettingProblem("raw_retention", message)
    for name, hint in get_type_hints(Settings, include_extras=True).items():
        least = (get_meta(hint).extra or {}).get("least", 0)
        if 0 < getattr(settings, name) < least if least else False:
            amount = f"{least >> 20} MB" if name.endswith("_bytes") else least
            message = f"{name}: {getattr(settings, name)} is too small: 0 (no limit), or at least {amount}"
            raise SettingProblem(name, message)


def _read_environment(env: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    for name, hint in get_type_hints(Settings, include_extras=True).items():
        variable = get_env_name(name, hint)
        text = env.get(variable)
        if text is None and name == "colour" and env.get("NO_COLOR"):
            text = "never"
        if text and text.encode("utf-8", "ignore") != os.fsencode(text):
            raise ConfigError(f"{variable} in the environment is not UTF-8")
        if text is None or text == "":
            continue
        try:
            yield name, _parse_text(name, format_type(hint), text)
        except ValueError as error:
            raise ConfigError(f"{variable} in the environment: {error}") from error


def _parse_text(name: str, type_name: str, text: str) -> Any:
    if type_name == "table":
        return _parse_entries(text, name)
    return _split_list(text, name) if "tuple" in type_name else text


def _parse_entries(text: str, name: str) -> dict[str, Any]:
    """Parse entries as an inline table, or as lines of the form that the setting declares. Raises ValueError."""
    if text.startswith("{"):
        table = tomllib.loads(f"table = {text}")["table"]
        return dict(table)
    return parse_lines(name, _split_list(text, name))


def _split_list(text: str, name: str) -> list[Any]:
    """Split a list at commas, colons and newlines. Patterns and commands contain those, so split them at newlines."""
    with suppress(tomllib.TOMLDecodeError):
        items = tomllib.loads(f"list = {text}")["list"] if text.startswith("[") else [0]
        if all(isinstance(item, str | dict) for item in items):
            return list(items)
    return [part for part in re.split(r"\n" if name in _LINE_SEPARATED_SETTINGS else r"[,:\n]", text) if part]


def get_tmux_socket_folder(environ: Mapping[str, str] | None = None) -> str:
    """Return the folder in which tmux keeps this user's sockets."""
    env = os.environ if environ is None else environ
    return f"{os.path.realpath(env.get('TMUX_TMPDIR') or '/tmp')}/tmux-{os.getuid()}"  # noqa: S108 - tmux's own rule


def get_home_folder() -> str:
    return os.environ.get("HOME") or os.path.expanduser("~")


def get_environment() -> dict[str, str]:
    """Return a copy of the environment, for child processes."""
    return dict(os.environ)
