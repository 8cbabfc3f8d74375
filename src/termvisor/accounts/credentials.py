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
from termvisor.system.regular_file import plain
from termvisor.system.subprocesses import ask

MARK = "VISOR_ACCOUNT"
"""Names the account in the environment of who works under it."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PATIENCE = 30.0
_LINES = "Each line is NAME=value, as a shell would take it; # begins a comment."
_ENDS = {124: f"did not answer within {_PATIENCE:g} s", 127: "is not found"}


class Home(Struct, frozen=True):
    """Where the agents of a service keep their things: the variable that names the folder, the usual folder, and the
    part of it that holds conversations."""

    variable: str
    usual: str
    sessions: str


HOMES: dict[Service, Home] = {
    "openai": Home("CODEX_HOME", ".codex", "sessions"),
    "anthropic": Home("CLAUDE_CONFIG_DIR", ".claude", "projects"),
    "google": Home("GEMINI_CLI_HOME", "", ".gemini/tmp"),
}


def environment(account: Account, home: str) -> dict[str, str]:
    """What is added to a program's environment. Raises ``ConfigError`` where the credentials are not to be had."""
    found: dict[str, str] = {}
    if account.env_file:
        found = pairs(_read(account, _absolute(account.env_file, home)), account.ref)
    elif account.command:
        found = pairs(_asked(account), account.ref)
    elif account.config_dir:
        folder = _absolute(account.config_dir, home)
        if not os.path.isdir(folder):
            hint = f"Log in once with {HOMES[account.service].variable}={folder}, or change its `config_dir`."
            raise ConfigError(f"account {account.ref}: there is no folder {folder}", hint=hint)
        found = {HOMES[account.service].variable: folder}
    return {**found, MARK: account.ref}


def shares_sessions(account: Account, own: Account | None, home: str) -> bool:
    """Whether what was begun under an agent's own account can be taken up under another one. None: in the usual
    folder."""
    return _sessions(account, account.service, home) == _sessions(own, account.service, home)


def _sessions(account: Account | None, service: Service, home: str) -> str:
    """Where the conversations are, whatever links lead there."""
    place = HOMES[service]
    own = account.config_dir if account is not None else ""
    folder = _absolute(own, home) if own else os.path.join(home, place.usual)
    return os.path.realpath(os.path.join(folder, place.sessions))


def is_home(account: Account, env: Mapping[str, str]) -> bool:
    """Whether an agent with this environment keeps its things in the folder of the account."""
    place, home = HOMES[account.service], env.get("HOME", "")
    used = env.get(place.variable) or os.path.join(home, place.usual)
    return os.path.realpath(used) == os.path.realpath(_absolute(account.config_dir, home))


def pairs(text: str, ref: str) -> dict[str, str]:
    """The variables in lines ``NAME=value``, as shells write them; ``#`` begins a comment."""
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        name, sign, value = line.strip().removeprefix("export ").partition("=")
        if not name or line.lstrip().startswith("#"):
            continue
        words = _words(value)
        if not sign or not _NAME.fullmatch(name) or words is None:
            raise ConfigError(f"account {ref}: line {number} of its credentials is not NAME=value", hint=_LINES)
        found[name] = words
    if not found:
        raise ConfigError(f"account {ref}: its credentials hold no variable", hint=_LINES)
    return found


def _words(value: str) -> str | None:
    try:
        return "".join(shlex.split(value, comments=True)[:1])
    except ValueError:
        return None


def _read(account: Account, path: str) -> str:
    try:
        with open(path, encoding="utf-8", opener=plain) as file:
            found = os.fstat(file.fileno())
            if found.st_uid != os.getuid() or found.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise ConfigError(f"account {account.ref}: others may read {path}", hint=f"`chmod 600 {path}`")
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        hint = "Write it, with lines NAME=value that nobody else may read, or change `env_file` in config.toml."
        raise ConfigError(f"account {account.ref}: cannot read {path}: {why}", hint=hint) from None


def _asked(account: Account) -> str:
    status, out, _ = ask(account.command, timeout=_PATIENCE)
    program = account.command[0]
    hint = f"Run {program} by hand to see why; it is the `command` of this account in config.toml."
    if status:
        why = _ENDS.get(status, f"failed with status {status}")
        raise ConfigError(f"account {account.ref}: {program} {why}", hint=hint)
    try:
        return out.decode()
    except UnicodeDecodeError:
        raise ConfigError(f"account {account.ref}: {program} prints something else than text", hint=hint) from None


def _absolute(path: str, home: str) -> str:
    return os.path.join(home, path.removeprefix("~/")) if path.startswith("~/") else os.path.abspath(path)
