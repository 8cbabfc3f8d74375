"""One small package per agent program, each with its ``ADAPTER``; entry points `termvisor.agents` add others' own."""

from collections.abc import Iterable
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, TypeGuard, cast

from termvisor import plugins
from termvisor.agents.adapters import generic
from termvisor.agents.adapters.adapter import Adapter, is_supported
from termvisor.agents.adapters.composed_adapter import Composed
from termvisor.agents.adapters.screen_classifier import RulesOf
from termvisor.log import logger

if TYPE_CHECKING:
    from termvisor.agents.adapters.server_contract import Host

BUILTIN: tuple[str, ...] = ("claude_code", "codex", "gemini", "opencode", "copilot", "cursor", "generic")
"""Asked in this order: the last one takes what no other knows."""
_PARTS = (*Adapter.__annotations__, "recognise", "title_matches", "watches", "read", "look", "resume_command")
log = logger("agents")


def load(
    disabled: Iterable[str] = (), programs: Iterable[str] = (), rules: RulesOf | None = None
) -> tuple[Adapter, ...]:
    """The adapters that are switched on; those of others are asked before ours, and cannot take the place of one.

    ``programs`` are the rules by which further programs are known; ``rules`` are those for screens, where not only our
    own are in force.
    """
    ours = {name: _builtin(name) for name in BUILTIN} | {"generic": generic.with_rules(programs)}
    theirs = {one.name: one for name, one in plugins.load("agents").items() if _is_usable(one, name)}
    off = frozenset(disabled)
    return tuple(ruled(one, rules) for one in (theirs | ours).values() if one.name not in off)


def ruled(adapter: Adapter, rules: RulesOf | None) -> Adapter:
    """The same, with these rules for its screens, if it has any that can be given."""
    return adapter.with_rules(rules) if rules is not None and isinstance(adapter, Composed) else adapter


def _builtin(name: str) -> Adapter:
    return cast("Adapter", import_module(f"{__name__}.adapters.{name}").ADAPTER)


def beside(adapter: Adapter, part: str) -> ModuleType | None:
    """The module of that name beside an adapter; None where it has none.

    A package of ours is called like its adapter; others name theirs, or it is where their class is.
    """
    named = str(getattr(adapter, "package", "")) or type(adapter).__module__
    home = f"{__name__}.adapters.{adapter.name}" if adapter.name in BUILTIN else named
    try:
        return import_module(f"{home}.{part}")
    except ModuleNotFoundError as error:
        if error.name not in (f"{home}.{part}", home):
            raise
        return None


def host_of(adapter: Adapter | None) -> "Host | None":
    """The agent's own servers; None where it has none. What cannot be loaded is told in the log."""
    if adapter is None or "native_approve" not in adapter.capabilities:
        return None
    try:
        return cast("Host | None", beside(adapter, "server_client"))
    except Exception as error:  # it may be anybody's
        log.error("the servers of %s cannot be loaded: %s: %s", adapter.name, type(error).__name__, error)
        return None


def _is_usable(found: object, name: str) -> TypeGuard[Adapter]:
    """What is not is told in the log and left out."""
    if why := complaint(found):
        log.error("the agent %s %s", name, why)
    return not why


def complaint(found: object) -> str:
    """Why this is no adapter that we can use; empty where it is one."""
    version = getattr(found, "contract_version", None)
    if not isinstance(version, tuple) or len(version) != 2 or not is_supported((version[0], version[1])):
        return f"speaks version {version} of the contract, which we do not"
    lacks = [part for part in _PARTS if not hasattr(found, part)]
    return f"is no adapter: it has no {', '.join(lacks)}" if lacks else ""
