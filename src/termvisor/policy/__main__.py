"""Validate a policy file: `python -m termvisor.policy <file>` prints the error to stderr and sets the exit status."""

import sys

from termvisor.errors import ConfigError
from termvisor.policy.policy_file import parse_policy
from termvisor.protocol.error_line import format_error


def check_policy_file(path: str) -> None:
    """Read and parse a policy file. Raises ConfigError."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}", hint="Check the path and its permissions.") from error
    parse_policy(text, path)


def main() -> None:
    try:
        check_policy_file(sys.argv[1])
    except ConfigError as error:
        sys.stderr.write(format_error(error))
        sys.exit(error.exit_status)


if __name__ == "__main__":
    main()
