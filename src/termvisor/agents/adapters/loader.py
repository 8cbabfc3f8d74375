"""Load the agent adapters: built-in ones, those of plug-ins (entry points `termvisor.agents`), and described agents.

Read `adapter.py` first for the contract that an adapter implements. A built-in adapter lists the versions that were
tested with recordings in its file ``versions``, one per line; a test keeps these files in step with the recordings.
"""

from collections.abc import Iterable
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, TypeGuard, cast

from termvisor import plugins
from termvisor.agents.adapters.adapter import Adapter, is_supported_contract
from termvisor.agents.adapters.composed_adapter import ComposedAdapter
from termvisor.agents.adapters.description_files import BUILTIN_AGENTS, DESCRIPTIONS
from termvisor.agents.adapters.generic.adapter import GenericAdapter
from termvisor.agents.adapters.screen_classifier import ScreenRuleProvider
from termvisor.log import get_logger
from termvisor.model.agent.agent_program import AgentProgram

if TYPE_CHECKING:
    from termvisor.agents.adapters.server_contract import ServerProvider
import os
from functools import cache

_ADAPTERS_PACKAGE = __name__.rpartition(".")[0]
_REQUIRED_ATTRIBUTES = (
    *Adapter.__annotations__,
    "find_process",
    "matches_title",
    "list_watched_paths",
    "read_record",
    "classify_screen",
    "build_resume_command",
)
log = get_logger("agents")


def load_adapters(
    disabled: Iterable[str] = (),
    programs: Iterable[AgentProgram] = (),
    rule_provider: ScreenRuleProvider | None = None,
) -> tuple[Adapter, ...]:
    """Return the enabled adapters in the order in which they are tried.

    Plug-ins come before the built-in ones, but cannot replace one of the same name; described agents replace none.
    ``programs`` are those that the user declared as agents; ``rule_provider`` replaces built-in screen rules.
    """
    builtin: dict[str, Adapter] = {name: _import_builtin(name) for name in BUILTIN_AGENTS}
    builtin["generic"] = GenericAdapter(programs)
    external = {
        plugin.name: plugin for name, plugin in plugins.load_plugins("agents").items() if _is_usable(plugin, name)
    }
    described = {name: one for name, one in DESCRIPTIONS.agents.adapters.items() if name not in external}
    disabled_names = frozenset(disabled)
    return tuple(
        apply_screen_rules(adapter, rule_provider)
        for adapter in (external | builtin | described).values()
        if adapter.name not in disabled_names
    )


def apply_screen_rules(adapter: Adapter, rule_provider: ScreenRuleProvider | None) -> Adapter:
    """Return the adapter with these screen rules, or unchanged if it uses none."""
    if rule_provider is None or not isinstance(adapter, ComposedAdapter):
        return adapter
    return adapter.with_rules(rule_provider)


def _import_builtin(name: str) -> Adapter:
    return cast("Adapter", import_module(f"{_ADAPTERS_PACKAGE}.{name}").ADAPTER)


def import_adapter_module(adapter: Adapter, module_name: str) -> ModuleType | None:
    """Import a module of an adapter's package, such as ``keyboard``; None if the adapter has no such module.

    A built-in adapter's package has the adapter's name. A plug-in's is its ``package``, or else the one of its class.
    """
    package = str(getattr(adapter, "package", "")) or type(adapter).__module__
    if adapter.name in BUILTIN_AGENTS:
        package = f"{_ADAPTERS_PACKAGE}.{adapter.name}"
    try:
        return import_module(f"{package}.{module_name}")
    except ModuleNotFoundError as error:
        # A missing import inside the module is a bug of the adapter and must not look like a missing module.
        if error.name not in (f"{package}.{module_name}", package):
            raise
        return None


def load_server_provider(adapter: Adapter | None) -> "ServerProvider | None":
    """Return the adapter's server client; None if it has none or its import fails (which is logged)."""
    if adapter is None or "native_approve" not in adapter.capabilities:
        return None
    try:
        return cast("ServerProvider | None", import_adapter_module(adapter, "server_client"))
    except Exception as error:  # plug-in code may raise anything
        log.error("cannot load the server client of agent %s: %s: %s", adapter.name, type(error).__name__, error)
        return None


def _is_usable(candidate: object, name: str) -> TypeGuard[Adapter]:
    """Return True for a usable adapter; otherwise log the problem."""
    if problem := find_adapter_problem(candidate):
        log.error("agent plug-in %s is not loaded: %s", name, problem)
    return not problem


def find_adapter_problem(candidate: object) -> str:
    """Return why an object cannot be used as an adapter; empty if it can."""
    version = getattr(candidate, "contract_version", None)
    if not isinstance(version, tuple) or len(version) != 2 or not is_supported_contract((version[0], version[1])):
        return f"adapter contract version {version} is not supported"
    missing = [name for name in _REQUIRED_ATTRIBUTES if not hasattr(candidate, name)]
    return f"not an adapter: it has no {', '.join(missing)}" if missing else ""


_ADAPTERS_FOLDER = os.path.dirname(__file__)


def list_recorded_versions(agent: str) -> tuple[str, ...]:
    """Return the versions of an agent that were recorded, or are described as proven; empty if there are none.

    Others are detected less reliably.
    """
    described = DESCRIPTIONS.agents.adapters.get(agent)
    return _read_versions(agent) if described is None else described.description.proven


@cache
def _read_versions(agent: str) -> tuple[str, ...]:
    if not agent.isidentifier():
        return ()
    try:
        # Plug-ins, and agents without recordings, have no such file.
        with open(os.path.join(_ADAPTERS_FOLDER, agent, "versions"), encoding="ascii") as file:
            return tuple(file.read().split())
    except OSError:
        return ()
