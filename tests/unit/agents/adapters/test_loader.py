"""Loading of built-in adapters and plug-ins."""

import pytest
from msgspec import Struct

from termvisor.agents.adapters import codex, loader
from termvisor.agents.adapters.adapter import CONTRACT_VERSION, ProcessInfo
from termvisor.agents.adapters.description_files import load_builtin_descriptions
from termvisor.model.agent.agent_program import AgentProgram
from tests.unit.agents.adapters.adapter_inputs import SESSION, build_process, build_screen
from tests.unit.agents.tracking import toy_agent


class UnsupportedAdapter(Struct):
    name: str = "old"
    contract_version: tuple[int, int] = (CONTRACT_VERSION[0] + 1, 0)


def load_names(disabled=()) -> list[str]:
    return [adapter.name for adapter in loader.load_adapters(disabled)]


def test_builtin_adapters_are_ordered_and_can_be_disabled():
    found = load_names()
    assert found == [*loader.BUILTIN_AGENTS, *load_builtin_descriptions().adapters]
    assert load_names(found[:1]) == found[1:]


def test_a_plug_in_needs_only_its_entry_point(tmp_path, monkeypatch):
    before = load_names()
    with toy_agent.install_adapter(tmp_path, monkeypatch):
        assert load_names() == ["toy", *before]
        assert load_names(["toy"]) == before


def test_an_adapter_of_another_contract_is_logged_and_left_out(monkeypatch, caplog):
    monkeypatch.setattr(loader.plugins, "load_plugins", lambda kind: {"old": UnsupportedAdapter()})
    assert "old" not in load_names()
    assert "agent plug-in old is not loaded: adapter contract version (3, 0) is not supported" in caplog.text


def test_an_object_that_is_not_an_adapter_is_logged_and_left_out(monkeypatch, caplog):
    half = UnsupportedAdapter(name="half", contract_version=CONTRACT_VERSION)
    monkeypatch.setattr(loader.plugins, "load_plugins", lambda kind: {"half": half, "odd": 3})
    assert not {"half", "odd"}.intersection(load_names())
    assert "agent plug-in half is not loaded: not an adapter: it has no capabilities, sources" in caplog.text
    assert "agent plug-in odd is not loaded: adapter contract version None is not supported" in caplog.text


def test_a_plug_in_cannot_replace_a_builtin_adapter(tmp_path, monkeypatch):
    monkeypatch.setattr(toy_agent.ToyAdapter, "name", "codex", raising=True)
    with toy_agent.install_adapter(tmp_path, monkeypatch):
        found = {adapter.name: adapter for adapter in loader.load_adapters()}
    assert found["codex"] is codex.ADAPTER


def test_user_rules_define_further_programs():
    process = ProcessInfo(pid=1, argv=("python", "-m", "aider"))
    found = loader.load_adapters(programs=[AgentProgram(command="aider", states={"waiting_input": "^> $"})])
    assert [one.name for one in found if one.find_process([process])] == ["generic", "aider"], "the user's rules first"


def test_screen_rules_can_be_replaced():
    requested = []
    found = {
        adapter.name: adapter
        for adapter in loader.load_adapters(rule_provider=lambda agent: requested.append(agent) or ())
    }
    assert found["codex"].classify_screen(build_screen("$ ")).state == "unknown"
    assert requested == ["codex", "any_agent"], "its own rules, then those for all agents"


@pytest.mark.parametrize(
    ("agent", "argv"),
    [
        ("codex", f"codex resume {SESSION}"),
        ("codex", f"codex -m gpt-5 resume {SESSION} --no-daemon"),
        ("claude_code", f"claude --resume {SESSION}"),
        ("claude_code", f"claude --model opus -r {SESSION}"),
        ("gemini", f"gemini --resume {SESSION}"),
        ("gemini", f"gemini -r={SESSION}"),
        ("copilot", f"copilot --resume={SESSION}"),
        ("cursor", f"cursor-agent --resume={SESSION}"),
        ("opencode", "opencode -s ses_0123456789abcdef"),
        ("opencode", "opencode --session=ses_0123456789abcdef"),
    ],
)
def test_a_command_line_names_the_resumed_session(agent, argv):
    adapter = next(one for one in loader.load_adapters() if one.name == agent)
    session = adapter.find_resumed_session(build_process(*argv.split()))
    assert session in argv
    assert adapter.build_resume_command(session)


@pytest.mark.parametrize(
    ("agent", "argv"),
    [
        ("codex", "codex resume --last"),
        ("codex", f"codex fork {SESSION}"),
        ("codex", f"codex {SESSION}"),
        ("claude_code", "claude --resume"),
        ("claude_code", "claude --resume my-words"),
        ("claude_code", f"claude --resume {SESSION} --fork-session"),
        ("claude_code", f"claude -- --resume {SESSION}"),
        ("gemini", "gemini --resume latest"),
        ("copilot", f"copilot --resume={SESSION};reboot"),
        ("cursor", "cursor-agent"),
        ("opencode", f"opencode -s {SESSION}"),
        ("opencode", "opencode -s ses_0123456789abcdef --fork"),
    ],
)
def test_a_malformed_or_forked_session_is_not_resumed(agent, argv):
    adapter = next(one for one in loader.load_adapters() if one.name == agent)
    assert adapter.find_resumed_session(build_process(*argv.split())) == ""
