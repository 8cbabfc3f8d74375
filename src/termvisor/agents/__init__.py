"""One small package per agent program, each with its ``ADAPTER``; entry points `termvisor.agents` add others' own."""

from collections.abc import Iterable
from importlib import import_module
from typing import TypeGuard, cast

from termvisor import plugins
from termvisor.agents import generic
from termvisor.agents.base import Adapter, is_supported
from termvisor.log import logger

BUILTIN: tuple[str, ...] = ("claude_code", "codex", "gemini", "opencode", "copilot", "cursor", "generic")
"""Asked in this order: the last one takes what no other knows."""
_PARTS = (*Adapter.__annotations__, "recognise", "title_matches", "watches", "read", "look", "resume_command")
log = logger("agents")


def load(disabled: Iterable[str] = (), programs: Iterable[str] = ()) -> tuple[Adapter, ...]:
    """The adapters that are switched on; those of others are asked before ours, and cannot take the place of one.

    ``programs`` are the rules by which further programs are known.
    """
    ours = {name: _builtin(name) for name in BUILTIN} | {"generic": generic.with_rules(programs)}
    theirs = {one.name: one for name, one in plugins.load("agents").items() if _is_usable(one, name)}
    off = frozenset(disabled)
    return tuple(one for one in (theirs | ours).values() if one.name not in off)


def _builtin(name: str) -> Adapter:
    return cast("Adapter", import_module(f"{__name__}.{name}").ADAPTER)


def _is_usable(found: object, name: str) -> TypeGuard[Adapter]:
    """What is not is told in the log and left out."""
    version = getattr(found, "contract_version", None)
    if not isinstance(version, tuple) or len(version) != 2 or not is_supported((version[0], version[1])):
        log.error("the agent %s speaks version %s of the contract, which we do not", name, version)
        return False
    lacks = [part for part in _PARTS if not hasattr(found, part)]
    if lacks:
        log.error("the agent %s is no adapter: it has no %s", name, ", ".join(lacks))
    return not lacks
