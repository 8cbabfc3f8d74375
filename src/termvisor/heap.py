"""Freed memory goes back to the system: the only file that asks the allocator. Its macOS counterpart is untested."""

import contextlib
import ctypes
import sys


def give_back() -> None:
    """What the C library keeps of freed memory, in all threads. One that cannot be asked, such as musl, is let be."""
    library = ctypes.CDLL(None)
    with contextlib.suppress(AttributeError):
        if sys.platform == "linux":
            library.malloc_trim(ctypes.c_size_t(0))
        else:
            library.malloc_zone_pressure_relief(None, ctypes.c_size_t(0))
