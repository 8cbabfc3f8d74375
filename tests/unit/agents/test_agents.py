"""The adapters that are switched on: ours, and those that others bring."""

from msgspec import Struct

from termvisor import agents
from termvisor.agents.base import CONTRACT_VERSION, Process
from tests.unit.pipeline.knowing import toy


class Old(Struct):
    name: str = "old"
    contract_version: tuple[int, int] = (CONTRACT_VERSION[0] + 1, 0)


def names(disabled=()) -> list[str]:
    return [adapter.name for adapter in agents.load(disabled)]


def test_ours_come_in_their_order_and_each_can_be_switched_off():
    found = names()
    assert found == [name for name in agents.BUILTIN if name in found]
    assert names(found[:1]) == found[1:]


def test_one_from_outside_needs_nothing_but_its_entry_point(tmp_path, monkeypatch):
    before = names()
    with toy.installed(tmp_path, monkeypatch):
        assert names() == ["toy", *before]
        assert names(["toy"]) == before


def test_one_that_speaks_another_contract_is_told_and_left_out(monkeypatch, caplog):
    monkeypatch.setattr(agents.plugins, "load", lambda kind: {"old": Old()})
    assert "old" not in names()
    assert "the agent old speaks version (2, 0) of the contract" in caplog.text


def test_one_that_is_no_adapter_is_told_and_left_out(monkeypatch, caplog):
    half = Old(name="half", contract_version=CONTRACT_VERSION)
    monkeypatch.setattr(agents.plugins, "load", lambda kind: {"half": half, "odd": 3})
    assert not {"half", "odd"}.intersection(names())
    assert "the agent half is no adapter: it has no capabilities, sources" in caplog.text
    assert "the agent odd speaks version None of the contract" in caplog.text


def test_one_from_outside_cannot_take_the_place_of_ours(tmp_path, monkeypatch):
    monkeypatch.setattr(toy.Toy, "name", "codex", raising=True)
    with toy.installed(tmp_path, monkeypatch):
        found = {adapter.name: adapter for adapter in agents.load()}
    assert type(found["codex"]).__module__ == "termvisor.agents.codex"


def test_further_programs_are_known_by_the_persons_own_rules():
    generic = agents.load(programs=["aider :: waiting_input :: ^> $"])[-1]
    assert generic.recognise([Process(pid=1, argv=("python", "-m", "aider"))]) is not None
