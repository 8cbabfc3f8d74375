"""Load the environment variables that make a program use an account, and find the account that a process uses.

Invariant: credentials stay in the process that will exec the program. Error messages name files and programs, never
their content or output.
"""

import os
import re
import shlex
import stat
from collections.abc import Mapping, Sequence

from msgspec import Struct

from termvisor.errors import ConfigError
from termvisor.model.agent.account import ACCOUNT_VARIABLE, Account, AccountStatus, Service
from termvisor.system.files import open_regular_file
from termvisor.system.subprocesses import TOO_MUCH_OUTPUT, run_and_capture

_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_COMMAND_TIMEOUT_S = 30.0
_FORMAT_HINT = "Each line is NAME=value, as a shell would take it; # begins a comment."
_REASONS_BY_STATUS = {
    124: f"timed out after {_COMMAND_TIMEOUT_S:g} s",
    TOO_MUCH_OUTPUT: "printed too much",
    127: "was not found",
}


class AgentHome(Struct, frozen=True):
    """Where a service's agent stores its data: the variable that sets the folder, the default folder in the home
    folder, and the subfolder for sessions."""

    variable: str
    default_folder: str
    sessions_folder: str


HOMES_BY_SERVICE: dict[Service, AgentHome] = {
    "openai": AgentHome("CODEX_HOME", ".codex", "sessions"),
    "anthropic": AgentHome("CLAUDE_CONFIG_DIR", ".claude", "projects"),
    "google": AgentHome("GEMINI_CLI_HOME", "", ".gemini/tmp"),
}


def load_account_environment(account: Account, home: str) -> dict[str, str]:
    """Return the variables to add to a program's environment. Raises ``ConfigError`` if they cannot be read."""
    variables: dict[str, str] = {}
    if account.env_file:
        variables = parse_variables(_read_env_file(account, _expand_path(account.env_file, home)), account.ref)
    elif account.command:
        variables = parse_variables(_run_credentials_command(account), account.ref)
    elif account.config_dir:
        folder = _expand_path(account.config_dir, home)
        if not os.path.isdir(folder):
            hint = (
                f"Log in once with {HOMES_BY_SERVICE[account.service].variable}={folder}, or change its `config_dir`."
            )
            raise ConfigError(f"account {account.ref}: folder {folder} not found", hint=hint)
        variables = {HOMES_BY_SERVICE[account.service].variable: folder}
    return {**variables, ACCOUNT_VARIABLE: account.ref}


def can_share_sessions(account: Account, own: Account | None, home: str) -> bool:
    """Return True if ``account`` can resume a session of the account ``own``, because both use the same folder.

    ``own`` is None for an agent that uses the default folder.
    """
    return _find_sessions_folder(account, account.service, home) == _find_sessions_folder(own, account.service, home)


def _find_sessions_folder(account: Account | None, service: Service, home: str) -> str:
    """Return the sessions folder, with links resolved."""
    agent_home = HOMES_BY_SERVICE[service]
    config_dir = account.config_dir if account is not None else ""
    folder = _expand_path(config_dir, home) if config_dir else os.path.join(home, agent_home.default_folder)
    return os.path.realpath(os.path.join(folder, agent_home.sessions_folder))


def is_account_home(account: Account, env: Mapping[str, str]) -> bool:
    """Return True if an agent with this environment uses the account's folder."""
    agent_home, home = HOMES_BY_SERVICE[account.service], env.get("HOME", "")
    folder = env.get(agent_home.variable) or os.path.join(home, agent_home.default_folder)
    return os.path.realpath(folder) == os.path.realpath(_expand_path(account.config_dir, home))


def parse_variables(text: str, ref: str) -> dict[str, str]:
    """Parse ``NAME=value`` lines in shell syntax. Raises ``ConfigError`` for any other line, or if there are none."""
    variables: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        name, sign, value = line.strip().removeprefix("export ").partition("=")
        if not name or line.lstrip().startswith("#"):
            continue
        unquoted = _unquote_value(value)
        if not sign or not _VARIABLE_NAME.fullmatch(name) or unquoted is None:
            raise ConfigError(f"account {ref}: line {number} of its credentials is not NAME=value", hint=_FORMAT_HINT)
        variables[name] = unquoted
    if not variables:
        raise ConfigError(f"account {ref}: its credentials contain no variable", hint=_FORMAT_HINT)
    return variables


def _unquote_value(value: str) -> str | None:
    try:
        return "".join(shlex.split(value, comments=True)[:1])
    except ValueError:  # unbalanced quotes
        return None


def _read_env_file(account: Account, path: str) -> str:
    try:
        with open(path, encoding="utf-8", opener=open_regular_file) as file:
            # Use fstat on the open file, because the path may be replaced between the check and the read.
            status = os.fstat(file.fileno())
            if status.st_uid != os.getuid() or status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise ConfigError(
                    f"account {account.ref}: other users can access {path}", hint=f"Run `chmod 600 {path}`."
                )
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        hint = "Create it with lines NAME=value and mode 600, or change `env_file` in config.toml."
        # from None: a UnicodeDecodeError's message contains bytes of the file.
        raise ConfigError(f"account {account.ref}: cannot read {path}: {reason}", hint=hint) from None


def _run_credentials_command(account: Account) -> str:
    status, out, _ = run_and_capture(account.command, timeout_s=_COMMAND_TIMEOUT_S)
    program = account.command[0]
    hint = f"Run {program} by hand to see why; it is the `command` of this account in config.toml."
    if status:
        reason = _REASONS_BY_STATUS.get(status, f"failed with status {status}")
        raise ConfigError(f"account {account.ref}: {program} {reason}", hint=hint)
    try:
        return out.decode()
    except UnicodeDecodeError:
        # from None: a UnicodeDecodeError's message contains bytes of the credentials.
        raise ConfigError(f"account {account.ref}: {program} printed text that is not UTF-8", hint=hint) from None


def _expand_path(path: str, home: str) -> str:
    return os.path.join(home, path.removeprefix("~/")) if path.startswith("~/") else os.path.abspath(path)


# The only environment variables that are read.
ENV_NAMES = (ACCOUNT_VARIABLE, "HOME", *(place.variable for place in HOMES_BY_SERVICE.values()))


def find_owner(service: Service, env: Mapping[str, str] | None, statuses: Sequence[AccountStatus]) -> Account | None:
    """Return the agent's account; None if uncertain. Without ``env``, the service must have a single account."""
    candidates = [status for status in statuses if status.account.service == service]
    if env is None:
        return candidates[0].account if len(candidates) == 1 else None
    if env.get(ACCOUNT_VARIABLE):
        return next((status.account for status in candidates if status.account.ref == env[ACCOUNT_VARIABLE]), None)
    at_home = [
        status.account for status in candidates if status.account.config_dir and is_account_home(status.account, env)
    ]
    # A process whose own folder matches no account uses an unknown account, not the default one.
    if at_home or env.get(HOMES_BY_SERVICE[service].variable):
        return at_home[0] if len(at_home) == 1 else None
    in_default_folder = [status for status in candidates if not status.account.config_dir]
    in_use = [status for status in in_default_folder if status.is_in_use] or in_default_folder
    return in_use[0].account if len(in_use) == 1 else None
