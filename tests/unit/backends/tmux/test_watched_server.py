"""What the source of a tmux server decides: its client, changes, and when it disconnects."""

from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from termvisor.backends.pane_source import PanesChanged
from termvisor.backends.tmux import native_client, watched_server
from termvisor.backends.tmux.native_client import NativeClient, TmuxProtocolError
from termvisor.backends.tmux.pane_source import TmuxServer, identify_server
from termvisor.backends.tmux.plain_client import PlainClient
from termvisor.backends.tmux.watched_server import TmuxPaneSource
from termvisor.errors import MuxError
from termvisor.model.terminal.pane import ServerInstance

SERVER = ServerInstance("local", "/s", 2**22 + 5, 1)


class ScriptedSource(TmuxPaneSource):
    """A source whose calls are in ``calls`` and whose news are in ``news``."""

    def __init__(self, client: object = None):
        self.calls, self.news = [], []
        client = client or SimpleNamespace(kind="native")
        client.close = lambda: self.calls.append("close")
        server = TmuxServer(client, SERVER, version="3.4", exits_unattached=False)
        plain = PlainClient("tmux", "/s", lambda: None)
        super().__init__(server, plain, program="tmux", report=self.news.append, count_fork=lambda: None)


@pytest.mark.parametrize(("is_native", "ends"), [(True, True), (True, False), (False, False)])
async def test_disconnects_are_delayed_as_long_as_a_session_would_be_destroyed(is_native, ends):
    client = NativeClient("/s") if is_native else SimpleNamespace(kind="plain")
    client.delays_disconnects = not ends
    source = ScriptedSource(client)
    source._set_disconnect_delay(ends)
    assert client.delays_disconnects is (ends if is_native else True)
    assert source.calls == (["close"] if is_native and not ends else [])


@pytest.mark.parametrize(
    ("has_run", "has_changed", "has_children", "change", "calls"),
    [
        (False, True, False, "none", []),
        (True, False, False, "possible", []),
        (True, True, True, "certain", []),
        (True, True, False, "certain", ["close"]),
    ],
)
async def test_what_the_kernel_shows_tells_how_certain_a_change_is(has_run, has_changed, has_children, change, calls):
    source = ScriptedSource()
    source._activity = SimpleNamespace(
        has_run=lambda: has_run, detect_pane_changes=lambda panes: has_changed, has_children=has_children
    )
    assert (source.detect_changes([]), source.calls) == (change, calls)


@pytest.mark.parametrize(
    ("reason", "other", "detail"),
    [
        ("", SERVER, ""),
        ("too new", SERVER, "too new"),
        ("", replace(SERVER, pid=1), "another tmux server took over this socket"),
        ("", MuxError("no answer"), "no answer"),
    ],
)
async def test_the_native_client_is_used_only_if_it_reaches_the_same_server(monkeypatch, reason, other, detail):
    async def identify(client, socket):
        if isinstance(other, Exception):
            raise other
        return SimpleNamespace(instance=other)

    monkeypatch.setattr(watched_server, "explain_no_native_client", lambda version: reason)
    monkeypatch.setattr(watched_server, "identify_server", identify)
    source = ScriptedSource()
    await source.choose_client()
    assert (source.status.client, source.status.detail) == ("plain" if detail else "native", detail)
    assert isinstance(source.client, NativeClient) is not bool(detail)


async def test_an_answer_that_is_not_understood_makes_the_source_use_processes(tmux, monkeypatch):
    tmux.start_session(command="cat")
    news, plain = [], PlainClient("tmux", tmux.socket, lambda: None)
    server = await identify_server(plain, tmux.socket)
    source = TmuxPaneSource(server, plain, program="tmux", report=news.append, count_fork=lambda: None)
    await source.choose_client()
    assert source.status.client == "native"
    monkeypatch.setattr(native_client, "PROTOCOL_VERSION", 9)
    with pytest.raises(TmuxProtocolError):
        await source.list_pane_facts()
    assert (source.status.client, news) == ("plain", [PanesChanged()])
    assert source.status.detail == "the tmux server speaks protocol version 8"
    assert len(await source.list_pane_facts()) == 1
    await source.close()
