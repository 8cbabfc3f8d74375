"""Freed memory goes back to the system: the only file that asks the allocator. Its macOS counterpart is untested."""

import contextlib
import ctypes
import gc
import sys

_M_ARENA_MAX = -8
_MAX_ARENAS = 1


def limit_arenas() -> None:
    """Let all threads allocate from one place, before there are any.

    Each place of its own would keep a quarter of a megabyte for good. Our threads mostly wait for one another anyway.
    """
    if sys.platform == "linux":
        with contextlib.suppress(AttributeError):
            ctypes.CDLL(None).mallopt(ctypes.c_int(_M_ARENA_MAX), ctypes.c_int(_MAX_ARENAS))


def freeze_heap() -> None:
    """What is there now stays for good: no later search for garbage looks through it again."""
    gc.collect()
    gc.freeze()
    release_free_memory()


def release_free_memory(*, collect_garbage: bool = False) -> None:
    """What the C library keeps of freed memory, in all threads. One that cannot be asked, such as musl, is let be.

    With ``garbage`` what is only kept by itself is freed first.
    """
    if collect_garbage:
        gc.collect()
    library = ctypes.CDLL(None)
    with contextlib.suppress(AttributeError):
        if sys.platform == "linux":
            library.malloc_trim(ctypes.c_size_t(0))
        else:
            library.malloc_zone_pressure_relief(None, ctypes.c_size_t(0))
