"""The server contract, and how its module is found."""

from types import SimpleNamespace

import pytest

from termvisor.agents.adapters import loader
from termvisor.agents.adapters.adapter import ProcessInfo
from termvisor.agents.adapters.server_contract import ServedAgent

ADAPTERS = {one.name: one for one in loader.load_adapters()}
SERVED = [name for name, one in ADAPTERS.items() if loader.load_server_provider(one) is not None]


def test_a_life_is_a_pid_with_its_start():
    assert ServedAgent(ProcessInfo(pid=7, pid_started=77), 5).process_key == (7, 77)


def test_these_have_a_server_of_their_own():
    assert SERVED == ["codex", "opencode"]


@pytest.mark.parametrize("name", SERVED)
def test_the_source_of_its_server_has_the_best_rank(name):
    adapter, host = ADAPTERS[name], loader.load_server_provider(ADAPTERS[name])
    source = next(one for one in adapter.sources if one.name == host.source)
    assert (source.tier, source.rank) == ("deterministic", 1)
    assert {"native_approve", "native_send"} <= adapter.capabilities


@pytest.mark.parametrize("name", SERVED)
def test_of_a_process_of_which_nothing_is_known_no_server_is_guessed(name):
    assert loader.load_server_provider(ADAPTERS[name]).get_server_key(ProcessInfo(pid=0)) == ""


def test_a_plug_in_names_the_package_of_its_modules():
    can = frozenset({"native_approve"})
    toy = SimpleNamespace(name="toy", package="termvisor.agents.adapters.codex", capabilities=can)
    assert loader.load_server_provider(toy).source == "app_server"
    assert loader.load_server_provider(SimpleNamespace(name="toy", capabilities=can)) is None


def test_an_adapter_without_one_has_none_and_one_that_cannot_be_loaded_is_left_out(monkeypatch):
    assert loader.load_server_provider(None) is None
    assert loader.load_server_provider(ADAPTERS["gemini"]) is None

    def broken(_name: str) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(loader, "import_module", broken)
    assert loader.load_server_provider(ADAPTERS["codex"]) is None


def test_what_lacks_inside_a_module_is_not_taken_for_the_lack_of_the_module(monkeypatch):
    def lacking(_name: str) -> None:
        raise ModuleNotFoundError("no tree", name="tree")

    monkeypatch.setattr(loader, "import_module", lacking)
    with pytest.raises(ModuleNotFoundError):
        loader.import_adapter_module(SimpleNamespace(name="codex"), "server_client")
