"""The server contract, and how its module is found."""

from types import SimpleNamespace

import pytest

from termvisor.agents.adapters import loader
from termvisor.agents.adapters.adapter import ProcessInfo
from termvisor.agents.adapters.server_contract import ServedAgent

ADAPTERS = {one.name: one for one in loader.load_adapters()}
SERVED = [name for name, one in ADAPTERS.items() if loader.load_server_provider(one) is not None]


def test_a_process_key_is_the_pid_with_its_start_time():
    assert ServedAgent(ProcessInfo(pid=7, pid_started=77), 5).process_key == (7, 77)


def test_codex_and_opencode_have_a_server():
    assert SERVED == ["codex", "opencode"]


@pytest.mark.parametrize("name", SERVED)
def test_the_server_source_has_the_best_rank(name):
    adapter, provider = ADAPTERS[name], loader.load_server_provider(ADAPTERS[name])
    source = next(one for one in adapter.sources if one.name == provider.source)
    assert (source.tier, source.rank) == ("deterministic", 1)
    assert {"native_approve", "native_send"} <= adapter.capabilities


@pytest.mark.parametrize("name", SERVED)
def test_an_unknown_process_has_no_server_key(name):
    assert loader.load_server_provider(ADAPTERS[name]).get_server_key(ProcessInfo(pid=0)) == ""


def test_a_plug_in_declares_the_package_of_its_modules():
    capabilities = frozenset({"native_approve"})
    toy = SimpleNamespace(name="toy", package="termvisor.agents.adapters.codex", capabilities=capabilities)
    assert loader.load_server_provider(toy).source == "app_server"
    assert loader.load_server_provider(SimpleNamespace(name="toy", capabilities=capabilities)) is None


def test_a_missing_or_failing_server_module_gives_no_provider(monkeypatch):
    assert loader.load_server_provider(None) is None
    assert loader.load_server_provider(ADAPTERS["gemini"]) is None

    def raise_error(_name: str) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(loader, "import_module", raise_error)
    assert loader.load_server_provider(ADAPTERS["codex"]) is None


def test_a_missing_import_inside_a_module_is_raised(monkeypatch):
    def raise_missing_module(_name: str) -> None:
        raise ModuleNotFoundError("no tree", name="tree")

    monkeypatch.setattr(loader, "import_module", raise_missing_module)
    with pytest.raises(ModuleNotFoundError):
        loader.import_adapter_module(SimpleNamespace(name="codex"), "server_client")
