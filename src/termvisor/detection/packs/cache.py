"""Loaded packs kept on disk: reading them again costs a millisecond instead of a tenth of a second and no memory.

What is kept is for exactly these files and settings; a file that was touched is read anew.
"""

import contextlib
import os
from _blake2 import blake2b  # hashlib would load OpenSSL, four megabytes of it
from collections.abc import Iterator, Mapping

import msgspec

from termvisor import __version__
from termvisor.detection.packs import locations as place
from termvisor.detection.packs.crash_test import condemned
from termvisor.detection.packs.loader import load
from termvisor.detection.packs.pack import Pack, Packs
from termvisor.model.settings.patterns import PatternSettings

_KEY = 16


def load_kept(config_dir: str, settings: PatternSettings, cache: str) -> Packs:
    """The packs of this instance. ``cache`` is a private folder."""
    folders = (place.user_folder(config_dir),)
    guilty = condemned(cache)
    key = _key(folders, settings, guilty)
    path = f"{cache}/packs.msgpack"
    if (found := _read(path, key)) is not None:
        return found
    packs = load(folders, settings.patterns_order, settings.patterns_disabled, guilty)
    with contextlib.suppress(OSError):  # without the file the next start reads them again
        _keep(path, key + msgspec.msgpack.encode(packs))
    return packs


def _read(path: str, key: bytes) -> Packs | None:
    try:
        with open(path, "rb") as file:
            return msgspec.msgpack.decode(file.read(), type=Packs) if file.read(_KEY) == key else None
    except (OSError, msgspec.MsgspecError):
        return None


def _keep(path: str, data: bytes) -> None:
    fresh = f"{path}.{os.getpid()}"
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(data)
    os.replace(fresh, path)


def _key(folders: tuple[str, ...], settings: PatternSettings, guilty: Mapping[str, str]) -> bytes:
    chosen = (settings.patterns_order, settings.patterns_disabled, sorted(guilty.items()))
    given = (__version__, *chosen, *_seen(folders))
    return blake2b(repr(given).encode(errors="replace"), digest_size=_KEY).digest()


def _seen(folders: tuple[str, ...]) -> Iterator[object]:
    for pack in place.every(folders):
        yield pack
        for path in place.files(pack) if isinstance(pack, Pack) else ():
            with contextlib.suppress(OSError):
                found = os.stat(path)
                yield path, found.st_mtime_ns, found.st_size
