"""Match with Hyperscan (Vectorscan) in one scan, whose duration hardly depends on the number of patterns.

A scratch space supports one scan at a time, and a scan releases the GIL, so every thread has its own.
"""

import contextlib
import os
import threading
from _blake2 import blake2b  # hashlib would load OpenSSL: four megabytes
from collections.abc import Mapping

import hyperscan

from termvisor.regex import dialect
from termvisor.regex.engine import PatternMatcher, ensure_utf8
from termvisor.system.files import write_private_file
from termvisor.system.malloc import release_free_memory

_FLAGS = hyperscan.HS_FLAG_MULTILINE | hyperscan.HS_FLAG_SINGLEMATCH | hyperscan.HS_FLAG_UTF8
_NO_IDS: frozenset[str] = frozenset()
_CACHE_MAX_AGE_S = 7 * 86_400


class HyperscanMatcher(PatternMatcher):
    """`PatternMatcher` that uses Hyperscan. Raises ValueError for unsupported patterns."""

    name = "hyperscan"

    def __init__(self, patterns: Mapping[str, str], cache: str | None = None):
        self._ids = tuple(patterns)
        self._database = (
            _load_or_compile(list(patterns.values()), cache) if cache else _compile_database(list(patterns.values()))
        )
        self._local = threading.local()

    def find_ids(self, data: bytes) -> frozenset[str]:
        scan = getattr(self._local, "scan", None) or self._create_scan()
        hits = scan(ensure_utf8(data))
        return frozenset([self._ids[hit] for hit in hits]) if hits else _NO_IDS

    def _create_scan(self) -> "_ThreadScan":
        self._local.scan = _ThreadScan(self._database)
        return self._local.scan  # type: ignore[no-any-return]


class _ThreadScan:
    """One thread's scratch space, and its callback, to which the library keeps no reference."""

    def __init__(self, database: hyperscan.Database):
        self._database = database
        self._scratch = hyperscan.Scratch(database)
        self._hits: list[int] = []
        self._on_match = self._record_hit

    def __call__(self, data: bytes) -> list[int]:
        self._hits.clear()
        self._database.scan(data, match_event_handler=self._on_match, scratch=self._scratch)
        return self._hits

    def _record_hit(self, number: int, start: int, end: int, flags: int, context: object) -> None:
        self._hits.append(number)


def _load_or_compile(patterns: list[str], folder: str) -> hyperscan.Database:
    """Load the database from the cache (a millisecond and 1 MB) or compile it (a second and 8 MB)."""
    path = cache_file(patterns, folder)
    try:
        with open(path, "rb") as file:
            database = hyperscan.loadb(file.read(), hyperscan.HS_MODE_BLOCK)
        # Mark it as used, so that it is not removed. A read-only cache is fine.
        with contextlib.suppress(OSError):
            os.utime(path)
        return database
    except (OSError, hyperscan.error):
        # Not cached, or written by another version of the library.
        database = _compile_database(patterns)
    # Without the file, the next start compiles again.
    with contextlib.suppress(OSError):
        write_private_file(path, hyperscan.dumpb(database))
    return database


def cache_file(patterns: list[str], folder: str) -> str:
    """Return the path of the compiled database of these patterns."""
    key = repr((str(getattr(hyperscan, "__version__", "")), patterns)).encode()
    return f"{folder}/{blake2b(key, digest_size=16).hexdigest()}.hsdb"


def remove_unused_cache_files(newest_file: str) -> None:
    """Remove databases not used in the week before this one was written: every rule change creates a new one."""
    folder, newest = os.path.dirname(newest_file), os.stat(newest_file).st_mtime
    for path in [f"{folder}/{name}" for name in os.listdir(folder) if name.endswith(".hsdb")]:
        # Another process may remove them at the same time.
        with contextlib.suppress(OSError):
            if newest - os.stat(path).st_mtime > _CACHE_MAX_AGE_S:
                os.unlink(path)


def _compile_database(patterns: list[str]) -> hyperscan.Database:
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    expressions = [dialect.to_common_dialect(pattern).encode() for pattern in patterns]
    try:
        database.compile(expressions=expressions, ids=list(range(len(patterns))), flags=[_FLAGS] * len(patterns))
    except hyperscan.error as error:
        raise ValueError(str(error)) from error
    # The compiler leaves several megabytes of freed memory behind.
    release_free_memory()
    return database
