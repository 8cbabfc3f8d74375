"""Becomes a program that works under an account: ``python -P -m termvisor.accounts.launcher <config> <account> -- …``.

The account is named, what it stands for is looked up here, in the process that is about to be the program. So no
credential is ever in an argv, in a multiplexer's environment, in the journal of a run or in the daemon.
"""

import os
import sys
from collections.abc import Sequence

from termvisor.accounts.credentials import environment
from termvisor.errors import BadRequest, ConfigError, VisorError
from termvisor.model.agent.account import find
from termvisor.settings import Places, home, load
from termvisor.settings import environment as inherited


def prefix(config_dir: str, ref: str) -> tuple[str, ...]:
    """The words before a command that start it under an account."""
    return (sys.executable, "-P", "-m", "termvisor.accounts.launcher", config_dir, ref, "--")


def main(words: Sequence[str]) -> int:
    """Returns only when it cannot be done: the exit status."""
    try:
        config_dir, ref, command = _read(words)
        account = find(load(Places(config_dir, "", "")).accounts, ref)
        if account is None:
            raise ConfigError(f"there is no account {ref!r}", hint="`visor accounts list` shows them.")
        os.execvpe(command[0], command, inherited() | environment(account, home()))  # noqa: S606 - no shell reads it
    except VisorError as error:
        sys.stderr.write(f"visor: {error.message}\n{error.hint}\n" if error.hint else f"visor: {error.message}\n")
        return error.exit_status
    except OSError as error:
        sys.stderr.write(f"visor: {command[0]}: {error.strerror}\n")
        return 127


def _read(words: Sequence[str]) -> tuple[str, str, list[str]]:
    if len(words) < 4 or words[2] != "--":
        raise BadRequest("it is called as <config folder> <account> -- <command> …")
    return words[0], words[1], list(words[3:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
