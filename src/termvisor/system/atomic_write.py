"""Replace a file atomically: a concurrent reader sees the old content or the new one, never a part.

An existing file keeps its owner and mode. On failure an `OSError` is raised and the temporary file is removed.
"""

import os
import stat
from contextlib import suppress


def write_atomically(target: str, data: bytes, template: os.stat_result | None, mode: int = 0o600) -> None:
    """Write ``data`` to ``target`` with the owner and mode of ``template``, or with ``mode`` if there is none."""
    temporary = f"{target}.{os.urandom(4).hex()}.new"
    try:
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            # Only root may change the owner, so fchown is skipped where it would change nothing.
            if template is not None and (template.st_uid, template.st_gid) != (os.geteuid(), os.getegid()):
                os.fchown(file.fileno(), template.st_uid, template.st_gid)
            os.fchmod(file.fileno(), mode if template is None else stat.S_IMODE(template.st_mode))
            file.write(data)
            file.flush()
            # Without fsync a power failure after the rename can leave an empty file.
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except OSError:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def stat_if_exists(target: str) -> os.stat_result | None:
    """Return the status of a file, or None if it does not exist."""
    return os.stat(target) if os.path.exists(target) else None
