"""Becomes a program that works under an account: ``python -P -m termvisor.accounts.launcher <config> <account> -- …``.

The account is named, what it stands for is looked up here, in the process that is about to be the program. So no
credential is ever in an argv, in a multiplexer's environment, in the journal of a run or in the daemon.
"""

import os
import sys
from collections.abc import Sequence

from termvisor.accounts.credentials import load_account_environment
from termvisor.errors import BadRequest, ConfigError, VisorError
from termvisor.model.agent.account import find_account
from termvisor.settings import Paths, get_home_folder, load_settings
from termvisor.settings import get_environment as inherited


def build_command_prefix(config_dir: str, ref: str) -> tuple[str, ...]:
    """The words before a command that start it under an account."""
    return (sys.executable, "-P", "-m", "termvisor.accounts.launcher", config_dir, ref, "--")


def main(arguments: Sequence[str]) -> int:
    """Returns only when it cannot be done: the exit status."""
    try:
        config_dir, ref, command = _parse_arguments(arguments)
        account = find_account(load_settings(Paths(config_dir, "", "")).accounts, ref)
        if account is None:
            raise ConfigError(f"there is no account {ref!r}", hint="`visor accounts list` shows them.")
        os.execvpe(command[0], command, inherited() | load_account_environment(account, get_home_folder()))  # noqa: S606 - no shell reads it
    except VisorError as error:
        sys.stderr.write(f"visor: {error.message}\n{error.hint}\n" if error.hint else f"visor: {error.message}\n")
        return error.exit_status
    except OSError as error:
        sys.stderr.write(f"visor: {command[0]}: {error.strerror}\n")
        return 127


def _parse_arguments(arguments: Sequence[str]) -> tuple[str, str, list[str]]:
    if len(arguments) < 4 or arguments[2] != "--":
        raise BadRequest("it is called as <config folder> <account> -- <command> …")
    return arguments[0], arguments[1], list(arguments[3:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
