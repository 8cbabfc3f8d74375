"""Extractors: what the output of a known command means. One file each: its prompts, its captures, which are secret.

Other packages add theirs with the entry point `termvisor.extractors`.
"""

from functools import cache

from termvisor.jobs.extractors import claude_setup_token, gh_auth_login
from termvisor.jobs.extractors.extractor import Capture, Extractor
from termvisor.plugins import load_plugins

__all__ = ["BUILTIN", "Capture", "Extractor", "load_extractors"]

BUILTIN = (claude_setup_token.EXTRACTOR, gh_auth_login.EXTRACTOR)


@cache
def load_extractors() -> dict[str, Extractor]:
    """Return all extractors by name; a built-in one is not replaced."""
    found = [plugin for plugin in load_plugins("extractors").values() if isinstance(plugin, Extractor)]
    return {extractor.name: extractor for extractor in (*found, *BUILTIN)}
