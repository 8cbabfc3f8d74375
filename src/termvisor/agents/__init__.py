"""One small package per agent program, each with its ``ADAPTER``; entry points `termvisor.agents` add others' own."""

from collections.abc import Iterable
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, TypeGuard, cast

from termvisor import plugins
from termvisor.agents.adapters import generic
from termvisor.agents.adapters.adapter import Adapter, is_supported_contract
from termvisor.agents.adapters.composed_adapter import ComposedAdapter
from termvisor.agents.adapters.screen_classifier import ScreenRuleProvider
from termvisor.log import get_logger

if TYPE_CHECKING:
    from termvisor.agents.adapters.server_contract import ServerProvider

BUILTIN_AGENTS: tuple[str, ...] = ("claude_code", "codex", "gemini", "opencode", "copilot", "cursor", "generic")
"""Asked in this order: the last one takes what no other knows."""
_REQUIRED_ATTRIBUTES = (
    *Adapter.__annotations__,
    "find_process",
    "title_matches",
    "list_watched_paths",
    "read_record",
    "classify_screen",
    "build_resume_command",
)
log = get_logger("agents")


def load_adapters(
    disabled: Iterable[str] = (), program_rules: Iterable[str] = (), rule_provider: ScreenRuleProvider | None = None
) -> tuple[Adapter, ...]:
    """The adapters that are switched on; those of others are asked before ours, and cannot take the place of one.

    ``programs`` are the rules by which further programs are known; ``rules`` are those for screens, where not only our
    own are in force.
    """
    ours = {name: _import_builtin(name) for name in BUILTIN_AGENTS} | {
        "generic": generic.build_generic_adapter(program_rules)
    }
    theirs = {one.name: one for name, one in plugins.load_plugins("agents").items() if _is_usable(one, name)}
    off = frozenset(disabled)
    return tuple(apply_screen_rules(one, rule_provider) for one in (theirs | ours).values() if one.name not in off)


def apply_screen_rules(adapter: Adapter, rule_provider: ScreenRuleProvider | None) -> Adapter:
    """The same, with these rules for its screens, if it has any that can be given."""
    return (
        adapter.with_rules(rule_provider)
        if rule_provider is not None and isinstance(adapter, ComposedAdapter)
        else adapter
    )


def _import_builtin(name: str) -> Adapter:
    return cast("Adapter", import_module(f"{__name__}.adapters.{name}").ADAPTER)


def import_adapter_module(adapter: Adapter, module_name: str) -> ModuleType | None:
    """The module of that name beside an adapter; None where it has none.

    A package of ours is called like its adapter; others name theirs, or it is where their class is.
    """
    named = str(getattr(adapter, "package", "")) or type(adapter).__module__
    home = f"{__name__}.adapters.{adapter.name}" if adapter.name in BUILTIN_AGENTS else named
    try:
        return import_module(f"{home}.{module_name}")
    except ModuleNotFoundError as error:
        if error.name not in (f"{home}.{module_name}", home):
            raise
        return None


def load_server_provider(adapter: Adapter | None) -> "ServerProvider | None":
    """The agent's own servers; None where it has none. What cannot be loaded is told in the log."""
    if adapter is None or "native_approve" not in adapter.capabilities:
        return None
    try:
        return cast("ServerProvider | None", import_adapter_module(adapter, "server_client"))
    except Exception as error:  # it may be anybody's
        log.error("the servers of %s cannot be loaded: %s: %s", adapter.name, type(error).__name__, error)
        return None


def _is_usable(candidate: object, name: str) -> TypeGuard[Adapter]:
    """What is not is told in the log and left out."""
    if why := find_adapter_problem(candidate):
        log.error("the agent %s %s", name, why)
    return not why


def find_adapter_problem(candidate: object) -> str:
    """Why this is no adapter that we can use; empty where it is one."""
    version = getattr(candidate, "contract_version", None)
    if not isinstance(version, tuple) or len(version) != 2 or not is_supported_contract((version[0], version[1])):
        return f"speaks version {version} of the contract, which we do not"
    lacks = [part for part in _REQUIRED_ATTRIBUTES if not hasattr(candidate, part)]
    return f"is no adapter: it has no {', '.join(lacks)}" if lacks else ""
