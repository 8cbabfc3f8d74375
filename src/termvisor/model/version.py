"""The version of this program, as one line. Imported before anything else, so it imports almost nothing."""

import sys

from termvisor import __version__


def describe_version() -> str:
    """Return the version with that of Python and the platform."""
    python = ".".join(map(str, sys.version_info[:3]))
    return f"visor {__version__} (Python {python}, {sys.platform})"
