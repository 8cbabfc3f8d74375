"""The adapters that are switched on: ours, and those that others bring."""

import pytest
from msgspec import Struct

from termvisor import agents
from termvisor.agents.adapters import codex
from termvisor.agents.adapters.adapter import CONTRACT_VERSION, ProcessInfo
from tests.unit.agents.adapters.adapter_inputs import SESSION, build_process, build_screen
from tests.unit.agents.tracking import toy_agent


class Old(Struct):
    name: str = "old"
    contract_version: tuple[int, int] = (CONTRACT_VERSION[0] + 1, 0)


def names(disabled=()) -> list[str]:
    return [adapter.name for adapter in agents.load_adapters(disabled)]


def test_ours_come_in_their_order_and_each_can_be_switched_off():
    found = names()
    assert found == [name for name in agents.BUILTIN_AGENTS if name in found]
    assert names(found[:1]) == found[1:]


def test_one_from_outside_needs_nothing_but_its_entry_point(tmp_path, monkeypatch):
    before = names()
    with toy_agent.install_adapter(tmp_path, monkeypatch):
        assert names() == ["toy", *before]
        assert names(["toy"]) == before


def test_one_that_speaks_another_contract_is_told_and_left_out(monkeypatch, caplog):
    monkeypatch.setattr(agents.plugins, "load_plugins", lambda kind: {"old": Old()})
    assert "old" not in names()
    assert "the agent old speaks version (2, 0) of the contract" in caplog.text


def test_one_that_is_no_adapter_is_told_and_left_out(monkeypatch, caplog):
    half = Old(name="half", contract_version=CONTRACT_VERSION)
    monkeypatch.setattr(agents.plugins, "load_plugins", lambda kind: {"half": half, "odd": 3})
    assert not {"half", "odd"}.intersection(names())
    assert "the agent half is no adapter: it has no capabilities, sources" in caplog.text
    assert "the agent odd speaks version None of the contract" in caplog.text


def test_one_from_outside_cannot_take_the_place_of_ours(tmp_path, monkeypatch):
    monkeypatch.setattr(toy_agent.ToyAdapter, "name", "codex", raising=True)
    with toy_agent.install_adapter(tmp_path, monkeypatch):
        found = {adapter.name: adapter for adapter in agents.load_adapters()}
    assert found["codex"] is codex.ADAPTER


def test_further_programs_are_known_by_the_persons_own_rules():
    generic = agents.load_adapters(program_rules=["aider :: waiting_input :: ^> $"])[-1]
    assert generic.find_process([ProcessInfo(pid=1, argv=("python", "-m", "aider"))]) is not None


def test_rules_for_screens_may_be_given():
    asked = []
    found = {
        adapter.name: adapter for adapter in agents.load_adapters(rule_provider=lambda agent: asked.append(agent) or ())
    }
    assert found["codex"].classify_screen(build_screen("$ ")).state == "unknown"
    assert asked == ["codex"]


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
def test_a_command_line_names_the_session_that_it_takes_up(agent, argv):
    adapter = next(one for one in agents.load_adapters() if one.name == agent)
    named = adapter.session_of(build_process(*argv.split()))
    assert named in argv
    assert adapter.build_resume_command(named)


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
def test_what_is_no_session_or_gets_another_id_is_not_taken_from_a_command_line(agent, argv):
    adapter = next(one for one in agents.load_adapters() if one.name == agent)
    assert adapter.session_of(build_process(*argv.split())) == ""
