"""Cache the loaded rule packs on disk: 1 ms instead of 100 ms at a start, and no memory for parsing.

The key covers the version, the settings, and path, time and size of every rule file.
"""

import contextlib
import os
from _blake2 import blake2b  # hashlib would load OpenSSL, 4 MB of memory
from collections.abc import Iterator, Mapping

import msgspec

from termvisor import __version__
from termvisor.detection.packs import locations
from termvisor.detection.packs.crash_test import load_crashing_rules
from termvisor.detection.packs.loader import load_packs
from termvisor.detection.packs.pack import RulePack, RulePacks
from termvisor.model.settings.patterns import PatternSettings

_KEY_BYTES = 16


def load_cached_packs(config_dir: str, settings: PatternSettings, cache: str) -> RulePacks:
    """Load the packs of this instance; ``cache`` is a private folder."""
    folders = (locations.get_user_folder(config_dir),)
    crashing = load_crashing_rules(cache)
    key = _compute_key(folders, settings, crashing)
    path = f"{cache}/packs.msgpack"
    if (cached := _read_cache(path, key)) is not None:
        return cached
    packs = load_packs(folders, settings.patterns_order, settings.patterns_disabled, crashing)
    with contextlib.suppress(OSError):  # without the cache the next start parses the files again
        _write_cache(path, key + msgspec.msgpack.encode(packs))
    return packs


def _read_cache(path: str, key: bytes) -> RulePacks | None:
    try:
        with open(path, "rb") as file:
            return msgspec.msgpack.decode(file.read(), type=RulePacks) if file.read(_KEY_BYTES) == key else None
    except (OSError, msgspec.MsgspecError):
        return None


def _write_cache(path: str, data: bytes) -> None:
    temporary = f"{path}.{os.getpid()}"
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(data)
    os.replace(temporary, path)


def _compute_key(folders: tuple[str, ...], settings: PatternSettings, crashing: Mapping[str, str]) -> bytes:
    options = (settings.patterns_order, settings.patterns_disabled, sorted(crashing.items()))
    content = (__version__, *options, *_list_file_stamps(folders))
    return blake2b(repr(content).encode(errors="replace"), digest_size=_KEY_BYTES).digest()


def _list_file_stamps(folders: tuple[str, ...]) -> Iterator[object]:
    for pack in locations.find_packs(folders):
        yield pack
        for path in locations.list_rule_files(pack) if isinstance(pack, RulePack) else ():
            with contextlib.suppress(OSError):  # a file that was deleted meanwhile
                status = os.stat(path)
                yield path, status.st_mtime_ns, status.st_size
