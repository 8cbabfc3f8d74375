"""Declarations of libghostty-vt for ctypes: the few functions and structures that `ghostty_model.py` uses.

The wheel `pyghostty` brings the library. Its own binding parses 80 KB of declarations at import, which costs a quarter
of a second, so it is not imported. The library promises no stable interface: only the version below is loaded.
"""

import ctypes
import os
from functools import cache
from importlib.machinery import PathFinder

LIBRARY_VERSION = "0.1.3"
SUCCESS, OUT_OF_SPACE = 0, -3
OPTION_WRITE_PTY, OPTION_SIZE, OPTION_COLOR_SCHEME = 1, 6, 7
OPTION_FOREGROUND, OPTION_BACKGROUND = 11, 12
OPTION_SCROLLBACK_LINES = 28
OPTION_UNKNOWN_SEQUENCE, OPTION_UNKNOWN_BYTES = 35, 36
DATA_COLUMNS, DATA_ROWS, DATA_CURSOR_X, DATA_CURSOR_Y = 1, 2, 3, 4
DATA_ACTIVE_SCREEN, DATA_CURSOR_VISIBLE = 6, 7
DATA_TITLE, DATA_TOTAL_ROWS, DATA_SCROLLBACK_ROWS, DATA_MODE = 12, 14, 15, 37
POINT_SCREEN = 2
FORMAT_PLAIN, FORMAT_VT = 0, 1
COLOR_SCHEME_DARK = 1
SEQUENCE_APC, SEQUENCE_OSC = 0, 1


class GhosttyText(ctypes.Structure):
    _fields_ = (("pointer", ctypes.c_void_p), ("length", ctypes.c_size_t))


class GhosttyColor(ctypes.Structure):
    _fields_ = (("red", ctypes.c_uint8), ("green", ctypes.c_uint8), ("blue", ctypes.c_uint8))


class GhosttyCoordinate(ctypes.Structure):
    """The library declares a union of 16 bytes, which has the same layout."""

    _fields_ = (("x", ctypes.c_uint16), ("y", ctypes.c_uint32), ("padding", ctypes.c_uint64))


class GhosttyPoint(ctypes.Structure):
    _fields_ = (("tag", ctypes.c_int), ("value", GhosttyCoordinate))


class GhosttyCell(ctypes.Structure):
    _fields_ = (("size", ctypes.c_size_t), ("node", ctypes.c_void_p), ("x", ctypes.c_uint16), ("y", ctypes.c_uint16))


class GhosttySelection(ctypes.Structure):
    _fields_ = (("size", ctypes.c_size_t), ("start", GhosttyCell), ("end", GhosttyCell), ("rectangle", ctypes.c_bool))


class GhosttyModeValue(ctypes.Structure):
    _fields_ = (("mode", ctypes.c_uint16), ("value", ctypes.c_bool))


class GhosttySize(ctypes.Structure):
    _fields_ = (
        ("rows", ctypes.c_uint16),
        ("columns", ctypes.c_uint16),
        ("cell_width", ctypes.c_uint32),
        ("cell_height", ctypes.c_uint32),
    )


class GhosttyScreenParts(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_size_t),
        *(
            (name, ctypes.c_bool)
            for name in ("cursor", "style", "hyperlink", "protection", "kitty_keyboard", "charsets")
        ),
    )


class GhosttyTerminalParts(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_size_t),
        *((name, ctypes.c_bool) for name in ("palette", "modes", "scrolling_region", "tabstops", "pwd", "keyboard")),
        ("screen", GhosttyScreenParts),
    )


class GhosttyFormatOptions(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_size_t),
        ("emit", ctypes.c_int),
        ("unwrap", ctypes.c_bool),
        ("trim", ctypes.c_bool),
        ("extra", GhosttyTerminalParts),
        ("selection", ctypes.POINTER(GhosttySelection)),
    )


class GhosttySequenceValue(ctypes.Structure):
    """The library declares a union of 128 bytes, whose members begin like this."""

    _fields_ = (("truncated", ctypes.c_bool), ("content", GhosttyText), ("padding", ctypes.c_uint64 * 13))


class GhosttyUnknownSequence(ctypes.Structure):
    _fields_ = (("tag", ctypes.c_int), ("value", GhosttySequenceValue))


WriteCallback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
SizeCallback = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(GhosttySize))
SchemeCallback = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int))
SequenceCallback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(GhosttyUnknownSequence))


def find_library() -> str:
    """Return the path of the library, or an empty string if this version is not installed."""
    found = PathFinder.find_spec("pyghostty")
    for folder in (found.submodule_search_locations if found else None) or ():
        is_known = os.path.exists(f"{os.path.dirname(folder)}/pyghostty-{LIBRARY_VERSION}.dist-info")
        for name in ("libghostty-vt.so", "libghostty-vt.dylib"):
            if is_known and os.path.exists(path := f"{folder}/_lib/{name}"):
                return path
    return ""


@cache
def load_library(path: str) -> ctypes.CDLL:
    """Load the library. Raises OSError if this machine cannot run it."""
    library = ctypes.CDLL(path)
    handle, pointer, size = ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t
    signatures: dict[str, tuple[object, list[object]]] = {
        "terminal_new": (ctypes.c_int, [pointer, ctypes.POINTER(handle), ctypes.c_uint16, ctypes.c_uint16]),
        "terminal_free": (None, [handle]),
        "terminal_resize": (ctypes.c_int, [handle, *[ctypes.c_uint16] * 2, *[ctypes.c_uint32] * 2]),
        "terminal_set": (ctypes.c_int, [handle, ctypes.c_int, pointer]),
        "terminal_get": (ctypes.c_int, [handle, ctypes.c_int, pointer]),
        "terminal_vt_write": (None, [handle, ctypes.c_char_p, size]),
        "terminal_grid_ref": (ctypes.c_int, [handle, GhosttyPoint, ctypes.POINTER(GhosttyCell)]),
        "formatter_terminal_new": (ctypes.c_int, [pointer, ctypes.POINTER(handle), handle, GhosttyFormatOptions]),
        "formatter_format_buf": (ctypes.c_int, [handle, pointer, size, ctypes.POINTER(size)]),
        "formatter_free": (None, [handle]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, f"ghostty_{name}")
        function.restype, function.argtypes = result, arguments
    return library
