"""The services of a real daemon on a real tmux."""

import asyncio

import pytest

from termvisor.daemon.assembly import open_services
from termvisor.errors import NotFound
from termvisor.model.terminal.search_query import SearchQuery
from termvisor.settings import Paths, Settings
from termvisor.testing.private_tmux import make_short_folder, run_private_tmux
from tests.pattern_cache import install_pattern_cache

KEY = "sk-ant-api03-" + "aB3dE6gH9" * 10


@pytest.fixture
async def scene():
    """A captured shell: services, tmux, and the pane."""
    with make_short_folder() as folder, run_private_tmux(folder) as tmux:
        mux_id = tmux.start_session(command="sh")
        places = Paths(f"{folder}/c", f"{folder}/d", f"{folder}/r")
        install_pattern_cache(places)
        async with open_services(places, Settings(tmux_sockets=(tmux.socket,))) as services:
            pane = await wait_for(lambda: find_captured_pane(services))
            yield services, tmux, mux_id, pane


async def find_captured_pane(services):
    return next((pane for pane in await services.panes.list_panes() if pane.heard_by == "pipe"), None)


async def wait_for(check):
    async with asyncio.timeout(20):
        while not (answer := await check()):
            await asyncio.sleep(0.02)
        return answer


async def has_line(services, pane, text):
    await services.panes.wait_until_stored()
    return text in [line.text for line in await services.history.list_lines(pane)]


async def test_pane_output_is_stored_as_text_and_bytes_and_is_searchable(scene):
    services, tmux, mux_id, pane = scene
    with services.updates.subscribe_output() as output:
        tmux.type_line(mux_id, "echo need''le")
        assert await output.get() == pane.id
    await wait_for(lambda: has_line(services, pane.id, "needle"))
    assert [hit.line.text for hit in (await services.history.search(SearchQuery(text="needle"))).hits] == ["needle"]
    raw = b"".join([delta.data async for delta in services.history.recording.read_raw(pane.id)])
    assert b"needle\r\n" in raw
    (view,) = await services.panes.list_panes()
    assert view.bytes_heard == len(raw)
    assert view.last_output_at is not None


async def test_an_unfinished_line_is_pending_and_redacted(scene):
    services, tmux, mux_id, pane = scene
    tmux.type_line(mux_id, f"printf '%s %s' pass {KEY}; sleep 100")

    async def pending():
        await services.panes.wait_until_stored()
        return services.panes.get_pending_line(pane.id).startswith("pass")

    await wait_for(pending)
    assert KEY not in services.panes.get_pending_line(pane.id)


async def test_a_captured_screen_is_redacted(scene):
    services, tmux, mux_id, pane = scene
    tmux.type_line(mux_id, f"clear; printf '\\033[31mred\\033[0m %s\\n' {KEY}")
    await wait_for(lambda: has_line(services, pane.id, "red sk-ant-[redacted:anthropic_key]"))
    screen = await services.panes.capture_screen(pane.id)
    assert (screen.width, screen.height) == (100, 30)
    assert any("red sk-ant-" in row for row in screen.rows)
    both = [*screen.rows, *(await services.panes.capture_screen(pane.id, escapes=True)).rows]
    assert not any(KEY[:30] in row for row in both)


async def test_a_closed_pane_has_no_screen_but_stored_text(scene):
    services, tmux, mux_id, pane = scene
    tmux.open_window("work", "sh")
    tmux("kill-pane", "-t", mux_id)

    async def is_gone():
        return pane.id not in [one.id for one in await services.panes.list_panes()]

    await wait_for(is_gone)
    with pytest.raises(NotFound):
        await services.panes.capture_screen(pane.id)
    (old,) = [one for one in await services.panes.list_panes(include_gone=True) if one.id == pane.id]
    assert old.gone_at is not None
    assert old.heard_by == "none"


async def test_health_reports_servers_and_resource_usage(scene):
    services, tmux, _, _ = scene
    health = await services.maintenance.get_health()
    assert [(server.socket, server.mux_ok, server.client) for server in health.servers] == [
        (tmux.socket, True, "native")
    ]
    assert health.panes_tracked == 1
    assert health.daemon.rss_bytes > 0
    assert health.recorder is not None
    assert health.db_writable
    assert health.alerts == ()
