"""Read a secret by its reference, ``env:NAME`` or ``file:/path``; it is never stored."""

import os
import stat

from termvisor.errors import ConfigError
from termvisor.settings import get_environment

_MAX_SECRET_BYTES = 4096


def read_secret(reference: str) -> str:
    """Return the secret; an empty string for an empty reference. Raises ``ConfigError``."""
    kind, _, name = reference.partition(":")
    if kind == "file":
        return _read_secret_file(name)
    secret = get_environment().get(name, "") if kind == "env" else ""
    if reference and not secret:
        raise ConfigError(f"{name} is not set in the daemon's environment", hint="Set it, then restart the daemon.")
    return secret


def _read_secret_file(path: str) -> str:
    try:
        with open(path, "rb", opener=_open_private) as file:
            text = file.read(_MAX_SECRET_BYTES).decode().strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConfigError(f"the secret in {path} cannot be read: {why}") from error
    if not text:
        raise ConfigError(f"the secret in {path} is empty")
    return text


def _open_private(path: str, flags: int) -> int:
    # O_NONBLOCK: opening a named pipe must not block the daemon.
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode) and not mode & 0o077:
        return descriptor
    os.close(descriptor)
    raise ConfigError(f"{path} is readable by others, or not a regular file", hint=f"Run `chmod 600 {path}`.")
