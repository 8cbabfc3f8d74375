"""The contract of an agent with a server, and how its module is found."""

from types import SimpleNamespace

import pytest

from termvisor import agents
from termvisor.agents.adapters.adapter import ProcessInfo
from termvisor.agents.adapters.server_contract import ServedAgent

ADAPTERS = {one.name: one for one in agents.load_adapters()}
SERVED = [name for name, one in ADAPTERS.items() if agents.load_server_provider(one) is not None]


def test_a_life_is_a_pid_with_its_start():
    assert ServedAgent(ProcessInfo(pid=7, pid_started=77), 5).process_key == (7, 77)


def test_these_have_a_server_of_their_own():
    assert SERVED == ["codex", "opencode"]


@pytest.mark.parametrize("name", SERVED)
def test_its_server_speaks_in_a_source_that_the_adapter_declares_and_believes(name):
    adapter, host = ADAPTERS[name], agents.load_server_provider(ADAPTERS[name])
    source = next(one for one in adapter.sources if one.name == host.source)
    assert (source.tier, source.rank) == ("deterministic", 1)
    assert {"native_approve", "native_send"} <= adapter.capabilities


@pytest.mark.parametrize("name", SERVED)
def test_of_a_process_of_which_nothing_is_known_no_server_is_guessed(name):
    assert agents.load_server_provider(ADAPTERS[name]).get_server_key(ProcessInfo(pid=0)) == ""


def test_one_from_outside_says_where_its_modules_stand():
    can = frozenset({"native_approve"})
    toy = SimpleNamespace(name="toy", package="termvisor.agents.adapters.codex", capabilities=can)
    assert agents.load_server_provider(toy).source == "app_server"
    assert agents.load_server_provider(SimpleNamespace(name="toy", capabilities=can)) is None


def test_an_adapter_without_one_has_none_and_one_that_cannot_be_loaded_is_left_out(monkeypatch):
    assert agents.load_server_provider(None) is None
    assert agents.load_server_provider(ADAPTERS["gemini"]) is None

    def broken(_name: str) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(agents, "import_module", broken)
    assert agents.load_server_provider(ADAPTERS["codex"]) is None


def test_what_lacks_inside_a_module_is_not_taken_for_the_lack_of_the_module(monkeypatch):
    def lacking(_name: str) -> None:
        raise ModuleNotFoundError("no tree", name="tree")

    monkeypatch.setattr(agents, "import_module", lacking)
    with pytest.raises(ModuleNotFoundError):
        agents.import_adapter_module(SimpleNamespace(name="codex"), "served")
