"""The version of this program, as one line. Imported before anything else, so it imports almost nothing."""

import sys

from termvisor import __version__

PYTHON_VERSION = ".".join(map(str, sys.version_info[:3]))


def describe_version(version: str = __version__, python: str = PYTHON_VERSION, platform: str = sys.platform) -> str:
    """Return the version with that of Python and the platform; of this program by default."""
    return f"visor {version} (Python {python}, {platform})"
