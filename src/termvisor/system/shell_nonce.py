"""Create and read the nonce that authenticates the marks of our shell integration.

Programs in a pane can print any escape sequence; only our shell integration can read this file and add the nonce.
"""

import os
import re

from termvisor.errors import StorageError
from termvisor.system.files import check_own_folder, make_private_folder


def load_nonce(path: str) -> str:
    """Return the secret that authenticates our shell integration's marks; create the file (mode 0600) if needed.

    An invalid file is replaced. Concurrent callers get the same nonce. Raises StorageError.
    """
    try:
        return _read_nonce(path) or _make_nonce(path)
    except OSError as error:
        raise StorageError(f"cannot read or write the nonce file {path}: {error.strerror}") from error


def _read_nonce(path: str) -> str:
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            text = file.read(100).strip()
    except FileNotFoundError:
        return ""
    return text if re.fullmatch("[0-9a-f]{32}", text) else ""


def _make_nonce(path: str) -> str:
    check_own_folder(os.path.dirname(path))
    make_private_folder(os.path.dirname(path))
    temporary = f"{path}.{os.getpid()}"
    with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="ascii") as file:
        file.write(os.urandom(16).hex() + "\n")
    try:
        os.link(temporary, path)  # unlike rename, link never replaces the file of a concurrent process
        os.unlink(temporary)
    except FileExistsError:
        os.unlink(temporary) if _read_nonce(path) else os.replace(temporary, path)
    return _read_nonce(path)
