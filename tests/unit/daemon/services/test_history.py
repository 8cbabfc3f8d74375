"""The recording of a real pane is rendered as the pane shows it."""

import asyncio
from contextlib import aclosing

import pytest

from termvisor.clock import SystemClock
from termvisor.daemon.assembly import open_services
from termvisor.errors import MuxError
from termvisor.settings import Paths, Settings
from termvisor.testing.private_tmux import make_short_folder, run_private_tmux
from tests.pattern_cache import install_pattern_cache


@pytest.fixture
async def scene():
    """A captured shell that had printed something before: services, tmux, and the pane."""
    with make_short_folder() as folder, run_private_tmux(folder) as tmux:
        mux_id = tmux.start_session(command="PS1='$ ' sh")
        tmux.type_line(mux_id, "echo before")
        places = Paths(f"{folder}/c", f"{folder}/d", f"{folder}/r")
        install_pattern_cache(places)
        async with open_services(places, Settings(tmux_sockets=(tmux.socket,))) as services:
            pane = await wait_for(lambda: find_captured_pane(services))
            yield services, tmux, mux_id, pane.id


async def find_captured_pane(services):
    return next((pane for pane in await services.panes.list_panes() if pane.heard_by == "pipe"), None)


async def wait_for(check):
    async with asyncio.timeout(20):
        while not (answer := await check()):
            await asyncio.sleep(0.02)
        return answer


async def print_and_wait(services, tmux, mux_id, pane, text):
    """Print a text in the pane and wait until it is logged."""
    tmux.type_line(mux_id, f"echo {text[:2]}''{text[2:]}")

    async def is_logged():
        raw = b"".join([delta.data async for delta in services.history.recording.read_raw(pane)])
        return f"{text}\r\n$ ".encode() in raw

    await wait_for(is_logged)


async def render_frames(services, pane, **span):
    return [frame async for frame in services.history.recording.render_frames(pane, **span)]


def read_screen(tmux, mux_id):
    return [row.rstrip() for row in tmux("capture-pane", "-p", "-t", mux_id).split("\n")]


async def test_the_last_frame_is_what_the_pane_shows(scene):
    services, tmux, mux_id, pane = scene
    await print_and_wait(services, tmux, mux_id, pane, "after")
    found = await render_frames(services, pane)
    assert "before" in found[0].rows
    assert [row for row in found[-1].rows if row] == [row for row in read_screen(tmux, mux_id) if row]
    where = tmux.read_format(mux_id, "#{cursor_x},#{cursor_y}")
    assert f"{found[-1].cursor_x},{found[-1].cursor_y}" == where
    assert [frame.at for frame in found] == sorted(frame.at for frame in found)


async def test_a_span_has_the_screen_at_its_beginning_and_what_follows(scene):
    services, tmux, mux_id, pane = scene
    await print_and_wait(services, tmux, mux_id, pane, "first")
    between = SystemClock().now()
    await print_and_wait(services, tmux, mux_id, pane, "second")
    found = await render_frames(services, pane, since=between)
    assert found[0].at == between
    assert "first" in found[0].rows
    assert "second" not in found[0].rows
    assert "second" in found[-1].rows
    assert "second" not in (await render_frames(services, pane, until=between))[-1].rows


async def test_a_resized_pane_is_rendered_in_both_sizes(scene):
    services, tmux, mux_id, pane = scene
    await print_and_wait(services, tmux, mux_id, pane, "wide")
    tmux("resize-window", "-t", mux_id, "-x", "30", "-y", "8")

    async def is_told():
        return any(event.kind == "pane_resized" for event in await services.history.list_events(pane=pane, limit=50))

    await wait_for(is_told)
    await print_and_wait(services, tmux, mux_id, pane, "x" * 40)
    found = await render_frames(services, pane)
    assert (found[0].width, found[0].height) == (100, 30)
    assert (found[-1].width, found[-1].height) == (30, 8)
    assert "x" * 30 in found[-1].rows


async def test_a_gap_is_a_frame_with_a_note(scene):
    services, tmux, mux_id, pane = scene
    await print_and_wait(services, tmux, mux_id, pane, "heard")
    tmux("pipe-pane", "-t", mux_id)

    async def is_told():
        return await services.history.list_gaps(pane=pane)

    await wait_for(is_told)
    notes = [frame.note for frame in await render_frames(services, pane) if frame.note]
    assert notes
    assert notes[0].startswith("gap: pipe_closed")


async def test_rendering_continues_after_a_crash_of_the_replay_tmux(scene):
    services, tmux, mux_id, pane = scene
    for word in ("one11", "two22", "three"):
        await print_and_wait(services, tmux, mux_id, pane, word)
    recording, seen = services.history.recording, []
    async with aclosing(recording.render_frames(pane, interval=0)) as film:
        async for frame in film:
            if not seen:
                recording._replay_server._server.child.kill()
            seen.append(frame)
    assert "three" in seen[-1].rows
    assert not recording._replay_server.is_open


async def test_a_replay_tmux_that_cannot_start_is_an_error(scene):
    services, _, _, pane = scene
    services.history.recording._replay_server._program = "/nonexistent"
    with pytest.raises(MuxError):
        await render_frames(services, pane)


async def test_closing_the_frame_stream_stops_the_replay_tmux(scene):
    services, tmux, mux_id, pane = scene
    await print_and_wait(services, tmux, mux_id, pane, "words")
    async with aclosing(services.history.recording.render_frames(pane)) as film:
        await anext(film)
        assert services.history.recording._replay_server.is_open
    assert not services.history.recording._replay_server.is_open
