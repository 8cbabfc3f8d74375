"""Termvisor: record, search and control terminal panes and the AI agents in them."""

import sys

__version__ = "0.1.0"


def describe_version() -> str:
    """Return the version with that of Python and the platform, as `visor --version` prints it."""
    python = ".".join(map(str, sys.version_info[:3]))
    return f"visor {__version__} (Python {python}, {sys.platform})"
