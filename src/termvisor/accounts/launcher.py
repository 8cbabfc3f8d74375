"""Exec a program with an account: ``python -P -m termvisor.accounts.launcher <config folder> <account> -- …``.

The command line contains only the account's name. Its credentials are loaded in the process that becomes the program.
So credentials never appear in an argv, the multiplexer's environment, a workflow journal or the daemon.
"""

import os
import sys
from collections.abc import Sequence

from termvisor.accounts.environment import load_account_environment
from termvisor.errors import BadRequest, ConfigError, VisorError
from termvisor.model.agent.account import find_account
from termvisor.settings import Paths, get_environment, get_home_folder, load_settings


def build_command_prefix(config_dir: str, ref: str) -> tuple[str, ...]:
    """Return the arguments to put before a command so that it uses an account."""
    return (sys.executable, "-P", "-m", "termvisor.accounts.launcher", config_dir, ref, "--")


def main(arguments: Sequence[str]) -> int:
    """Exec the command. Returns an exit status only if that fails."""
    try:
        config_dir, ref, command = _parse_arguments(arguments)
        account = find_account(load_settings(Paths(config_dir, "", "")).accounts, ref)
        if account is None:
            raise ConfigError(f"account {ref!r} not found", hint="`visor accounts list` shows all accounts.")
        environment = get_environment() | load_account_environment(account, get_home_folder())
        # The program replaces this process, so it is the pane's process and no credential stays behind.
        os.execvpe(command[0], command, environment)  # noqa: S606 - no shell involved
    except VisorError as error:
        sys.stderr.write(f"visor: {error.message}\n{error.hint}\n" if error.hint else f"visor: {error.message}\n")
        return error.exit_status
    except OSError as error:
        sys.stderr.write(f"visor: {command[0]}: {error.strerror}\n")
        return 127


def _parse_arguments(arguments: Sequence[str]) -> tuple[str, str, list[str]]:
    if len(arguments) < 4 or arguments[2] != "--":
        raise BadRequest("usage: <config folder> <account> -- <command> …")
    return arguments[0], arguments[1], list(arguments[3:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
