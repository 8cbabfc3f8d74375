"""A file is written anew, whole or not at all: whoever reads it meanwhile finds the old one or the new one.

One that is there keeps its owner and its rights. What goes wrong is an `OSError`, and leaves nothing beside it.
"""

import os
import stat
from contextlib import suppress


def write_atomically(target: str, data: bytes, template: os.stat_result | None, mode: int = 0o600) -> None:
    """``like`` has the owner and rights to give it; where there is none, it gets this mode."""
    fresh = f"{target}.{os.urandom(4).hex()}.new"
    try:
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            if template is not None and (template.st_uid, template.st_gid) != (os.geteuid(), os.getegid()):
                os.fchown(file.fileno(), template.st_uid, template.st_gid)
            os.fchmod(file.fileno(), mode if template is None else stat.S_IMODE(template.st_mode))
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, target)
    except OSError:
        with suppress(OSError):
            os.unlink(fresh)
        raise


def stat_if_exists(target: str) -> os.stat_result | None:
    return os.stat(target) if os.path.exists(target) else None
