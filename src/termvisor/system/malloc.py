"""Return freed memory to the system and configure the allocator. The macOS branch is untested."""

import contextlib
import ctypes
import gc
import sys

# The value of this mallopt parameter in glibc.
_M_ARENA_MAX = -8
_MAX_ARENAS = 1


def limit_arenas() -> None:
    """Make all threads allocate from one arena. Call before the first thread starts.

    Every additional arena costs a quarter of a megabyte, and the threads of this process rarely run at the same time.
    """
    if sys.platform == "linux":
        # musl has no such call.
        with contextlib.suppress(AttributeError):
            ctypes.CDLL(None).mallopt(ctypes.c_int(_M_ARENA_MAX), ctypes.c_int(_MAX_ARENAS))


def freeze_heap() -> None:
    """Exclude all current objects from later garbage collections."""
    gc.collect()
    gc.freeze()
    release_free_memory()


def release_free_memory(*, collect_garbage: bool = False) -> None:
    """Return the freed memory of all threads to the system, after a garbage collection if ``collect_garbage``.

    Does nothing if the C library (such as musl) has no such call.
    """
    if collect_garbage:
        gc.collect()
    library = ctypes.CDLL(None)
    with contextlib.suppress(AttributeError):
        if sys.platform == "linux":
            library.malloc_trim(ctypes.c_size_t(0))
        else:
            library.malloc_zone_pressure_relief(None, ctypes.c_size_t(0))
