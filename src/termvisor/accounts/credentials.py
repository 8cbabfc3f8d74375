"""The environment in which a program works under an account.

Invariant: what is read here stays in the process that is about to become that program. Errors name files and programs,
never what these said.
"""

import os
import re
import shlex
import stat
from collections.abc import Mapping

from msgspec import Struct

from termvisor.errors import ConfigError
from termvisor.model.agent.account import Account, Service
from termvisor.system.regular_file import open_regular_file
from termvisor.system.subprocesses import run_and_capture

ACCOUNT_VARIABLE = "VISOR_ACCOUNT"
"""Names the account in the environment of who works under it."""
_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_COMMAND_TIMEOUT_S = 30.0
_FORMAT_HINT = "Each line is NAME=value, as a shell would take it; # begins a comment."
_REASONS_BY_STATUS = {124: f"did not answer within {_COMMAND_TIMEOUT_S:g} s", 127: "is not found"}


class AgentHome(Struct, frozen=True):
    """Where the agents of a service keep their things: the variable that names the folder, the usual folder, and the
    part of it that holds conversations."""

    variable: str
    default_folder: str
    sessions_folder: str


HOMES_BY_SERVICE: dict[Service, AgentHome] = {
    "openai": AgentHome("CODEX_HOME", ".codex", "sessions"),
    "anthropic": AgentHome("CLAUDE_CONFIG_DIR", ".claude", "projects"),
    "google": AgentHome("GEMINI_CLI_HOME", "", ".gemini/tmp"),
}


def load_account_environment(account: Account, home: str) -> dict[str, str]:
    """What is added to a program's environment. Raises ``ConfigError`` where the credentials are not to be had."""
    found: dict[str, str] = {}
    if account.env_file:
        found = parse_variables(_read_env_file(account, _expand_path(account.env_file, home)), account.ref)
    elif account.command:
        found = parse_variables(_run_credentials_command(account), account.ref)
    elif account.config_dir:
        folder = _expand_path(account.config_dir, home)
        if not os.path.isdir(folder):
            hint = (
                f"Log in once with {HOMES_BY_SERVICE[account.service].variable}={folder}, or change its `config_dir`."
            )
            raise ConfigError(f"account {account.ref}: there is no folder {folder}", hint=hint)
        found = {HOMES_BY_SERVICE[account.service].variable: folder}
    return {**found, ACCOUNT_VARIABLE: account.ref}


def can_share_sessions(account: Account, own: Account | None, home: str) -> bool:
    """Whether what was begun under an agent's own account can be taken up under another one. None: in the usual
    folder."""
    return _find_sessions_folder(account, account.service, home) == _find_sessions_folder(own, account.service, home)


def _find_sessions_folder(account: Account | None, service: Service, home: str) -> str:
    """Where the conversations are, whatever links lead there."""
    place = HOMES_BY_SERVICE[service]
    own = account.config_dir if account is not None else ""
    folder = _expand_path(own, home) if own else os.path.join(home, place.default_folder)
    return os.path.realpath(os.path.join(folder, place.sessions_folder))


def is_account_home(account: Account, env: Mapping[str, str]) -> bool:
    """Whether an agent with this environment keeps its things in the folder of the account."""
    place, home = HOMES_BY_SERVICE[account.service], env.get("HOME", "")
    used = env.get(place.variable) or os.path.join(home, place.default_folder)
    return os.path.realpath(used) == os.path.realpath(_expand_path(account.config_dir, home))


def parse_variables(text: str, ref: str) -> dict[str, str]:
    """The variables in lines ``NAME=value``, as shells write them; ``#`` begins a comment."""
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        name, sign, value = line.strip().removeprefix("export ").partition("=")
        if not name or line.lstrip().startswith("#"):
            continue
        words = _unquote_value(value)
        if not sign or not _VARIABLE_NAME.fullmatch(name) or words is None:
            raise ConfigError(f"account {ref}: line {number} of its credentials is not NAME=value", hint=_FORMAT_HINT)
        found[name] = words
    if not found:
        raise ConfigError(f"account {ref}: its credentials hold no variable", hint=_FORMAT_HINT)
    return found


def _unquote_value(value: str) -> str | None:
    try:
        return "".join(shlex.split(value, comments=True)[:1])
    except ValueError:
        return None


def _read_env_file(account: Account, path: str) -> str:
    try:
        with open(path, encoding="utf-8", opener=open_regular_file) as file:
            found = os.fstat(file.fileno())
            if found.st_uid != os.getuid() or found.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise ConfigError(f"account {account.ref}: others may read {path}", hint=f"`chmod 600 {path}`")
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        hint = "Write it, with lines NAME=value that nobody else may read, or change `env_file` in config.toml."
        raise ConfigError(f"account {account.ref}: cannot read {path}: {why}", hint=hint) from None


def _run_credentials_command(account: Account) -> str:
    status, out, _ = run_and_capture(account.command, timeout_s=_COMMAND_TIMEOUT_S)
    program = account.command[0]
    hint = f"Run {program} by hand to see why; it is the `command` of this account in config.toml."
    if status:
        why = _REASONS_BY_STATUS.get(status, f"failed with status {status}")
        raise ConfigError(f"account {account.ref}: {program} {why}", hint=hint)
    try:
        return out.decode()
    except UnicodeDecodeError:
        raise ConfigError(f"account {account.ref}: {program} prints something else than text", hint=hint) from None


def _expand_path(path: str, home: str) -> str:
    return os.path.join(home, path.removeprefix("~/")) if path.startswith("~/") else os.path.abspath(path)
