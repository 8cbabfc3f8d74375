"""Every built-in adapter fulfils the adapter contract."""

from importlib import import_module
from inspect import getmembers, isfunction, signature

import pytest

from termvisor.agents.adapters import claude_code, codex, copilot, cursor, described, gemini, opencode
from termvisor.agents.adapters.description_files import load_builtin_descriptions
from termvisor.agents.adapters.generic.adapter import GenericAdapter
from termvisor.agents.adapters.keyboard import AgentKeymap
from termvisor.agents.adapters.loader import BUILTIN_AGENTS
from termvisor.model.agent.agent_program import AgentProgram
from termvisor.testing.contracts.agent_adapter import AdapterContract

SESSION = "00000000-0000-4000-8000-000000000001"


class TestClaudeCode(AdapterContract):
    adapter = claude_code.ADAPTER
    package = claude_code.__name__
    events = (
        "SessionStart",
        "UserPromptSubmit",
        "PermissionRequest",
        "Notification",
        "Stop",
        "StopFailure",
        "SubagentStop",
    )
    session = SESSION


class TestCodex(AdapterContract):
    adapter = codex.ADAPTER
    package = codex.__name__
    events = ("thread/status/changed", "turn/completed", "Stop", "agent-turn-complete", "event_msg", "response_item")
    session = SESSION


class TestGemini(AdapterContract):
    adapter = gemini.ADAPTER
    package = gemini.__name__
    events = tuple(gemini.hooks.HOOK_INTERPRETERS)
    session = SESSION


class TestOpencode(AdapterContract):
    adapter = opencode.ADAPTER
    package = opencode.__name__
    events = tuple(opencode.hooks.EVENT_INTERPRETERS)
    session = "ses_e1d444cefffe"


class TestCopilot(AdapterContract):
    adapter = copilot.ADAPTER
    package = copilot.__name__
    events = (*copilot.hooks.HOOK_INTERPRETERS, *copilot.transcript.EVENT_INTERPRETERS)
    session = SESSION


class TestCursor(AdapterContract):
    adapter = cursor.ADAPTER
    package = cursor.__name__
    events = tuple(cursor.hooks.HOOK_INTERPRETERS)
    session = SESSION


DESCRIBED_SESSIONS = {"amp": f"T-{SESSION}", "goose": "20261116_1", "cline": "1795013462492_vmkqv"}
DESCRIBED_SESSIONS |= {"kilo": "ses_e1d444cefffe"}


def build_described_contract(adapter):
    """Return the contract tests of a described agent."""
    session = DESCRIBED_SESSIONS.get(adapter.name, SESSION) if adapter.description.session is not None else ""
    fields = {"adapter": adapter, "package": described.__name__, "session": session}
    return type(f"TestDescribed_{adapter.name}", (AdapterContract,), fields)


for _adapter in load_builtin_descriptions().adapters.values():
    globals()[f"TestDescribed_{_adapter.name}"] = build_described_contract(_adapter)


class TestGeneric(AdapterContract):
    adapter = GenericAdapter(
        [AgentProgram(command="aider", states={"waiting_input": "^[a-z]*>$", "running": "esc to stop"})]
    )


def test_every_builtin_agent_has_a_contract_test():
    tested = {one.adapter.name for one in AdapterContract.__subclasses__()}
    assert tested >= {*BUILTIN_AGENTS, *load_builtin_descriptions().adapters}


@pytest.mark.parametrize("name", BUILTIN_AGENTS)
def test_an_adapter_package_is_named_after_its_agent(name):
    assert import_module(f"termvisor.agents.adapters.{name}").ADAPTER.name == name


@pytest.mark.parametrize("name", [name for name in BUILTIN_AGENTS if name != "generic"])
def test_a_keyboard_module_implements_functions_of_the_contract(name):
    keyboard = import_module(f"termvisor.agents.adapters.{name}.keyboard")
    contract = {
        function_name: [(one.name, one.default) for one in list(signature(function).parameters.values())[1:]]
        for function_name, function in getmembers(AgentKeymap, isfunction)
        if not function_name.startswith("_")
    }
    implemented = {
        function_name: [(one.name, one.default) for one in signature(function).parameters.values()]
        for function_name, function in getmembers(keyboard, isfunction)
        if function_name in contract
    }
    assert implemented
    assert implemented == {function_name: contract[function_name] for function_name in implemented}
