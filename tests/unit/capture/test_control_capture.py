"""Capture panes through real control-mode clients: exact, bounded and harmless for the server."""

import sys
from types import SimpleNamespace

import msgspec
import pytest
from msgspec.structs import replace

from termvisor.backends.pane_source import CaptureLost, CaptureRefusal, StartedCapture
from termvisor.backends.tmux.control_mode import ControlNotice
from termvisor.errors import MuxError
from termvisor.model.ids import MuxPaneId
from termvisor.model.terminal.output import Epoch
from termvisor.pipeline.epoch_reader import EpochCarry
from tests.unit.wait_until import wait_until

COUNTING = f'exec {sys.executable} -c "import itertools\nfor n in itertools.count(10**7): print(n)"'
"""Numbers of eight digits, as fast as they go."""


async def start_capture(harness, mux_id: str) -> Epoch:
    """Capture a pane through control mode, and return its epoch."""
    await harness.server.list_pane_facts()
    epoch = await harness.capture_store.epochs.reserve_epoch(await harness.capture_store.add_pane(mux_id), "control")
    harness.sink.open_epoch(epoch)
    try:
        started = await harness.server.start_capture(MuxPaneId(mux_id), epoch, harness.sink, lines=50)
    except MuxError:
        await harness.sink.close_epoch(epoch, "joined")
        raise
    assert started.data_plane == "control"
    return await harness.capture_store.epochs.begin_epoch(epoch, started.capture)


async def end_capture(harness, mux_id: str, epoch: Epoch, ended_by: str = "joined") -> None:
    await harness.server.stop_capture(MuxPaneId(mux_id), epoch)
    await harness.sink.close_epoch(epoch, ended_by)


async def start_pipe(harness, mux_id: str, epoch: Epoch) -> StartedCapture | CaptureRefusal:
    """Capture a pane by a pipe from now on."""
    started = await harness.server.start_capture(MuxPaneId(mux_id), epoch, harness.sink, lines=0)
    if isinstance(started, StartedCapture):
        await harness.capture_store.epochs.begin_epoch(epoch, started.capture)
    return started


def is_counted(digits: str) -> bool:
    """Return True if the text consists of consecutive numbers of eight digits and a rest."""
    numbers = [int(digits[at : at + 8]) for at in range(0, len(digits) // 8 * 8, 8)]
    return len(numbers) > 100 and numbers == list(range(numbers[0], numbers[0] + len(numbers)))


async def read_first_screen(capture_store, epoch) -> str:
    """Return the text of the pane at the start of the epoch, the cursor row last."""
    lines = await capture_store.pipeline.lines.read(epoch.pane, limit=5000)
    begun = msgspec.msgpack.decode(epoch.carry, type=EpochCarry).text.begun
    return "".join(line.text for line in lines if line.source == "screen") + begun.text


async def test_a_capture_starts_exactly_after_the_baseline(tmux, harness):
    for _ in range(3):
        mux_id = tmux.open_window("work", COUNTING)
        await wait_until(lambda mux_id=mux_id: tmux.read_format(mux_id, "#{history_size}") != "0")
        epoch = await start_capture(harness, mux_id)
        await wait_until(lambda epoch=epoch: harness.capture_store.epochs.measure_size(epoch) > 20_000)
        seen, log = await read_first_screen(harness.capture_store, epoch), harness.capture_store.read_raw(epoch)
        assert is_counted(seen + log.decode().replace("\r\n", ""))
        tmux("kill-pane", "-t", mux_id)
        await end_capture(harness, mux_id, epoch, "pane_exited")


async def test_switching_to_a_pipe_loses_and_duplicates_no_bytes(tmux, harness):
    for _ in range(3):
        mux_id = tmux.open_window("work", COUNTING)
        control = await start_capture(harness, mux_id)
        pipe = await harness.capture_store.epochs.reserve_epoch(control.pane, "pipe")
        await wait_until(lambda epoch=control: harness.capture_store.epochs.measure_size(epoch) > 5000)
        started = await start_pipe(harness, mux_id, pipe)
        assert (started.data_plane, started.awaits_recorder) == ("pipe", True)
        await harness.sink.close_epoch(control, "joined")
        await wait_until(lambda epoch=pipe: harness.capture_store.epochs.measure_size(epoch) > 5000)
        log = harness.capture_store.read_raw(control) + harness.capture_store.read_raw(pipe)
        text = (await read_first_screen(harness.capture_store, control)) + log.decode().replace("\r\n", "")
        assert is_counted(text)
        assert await harness.capture_store.list_end_causes(control.pane) == ["joined", None]
        assert await harness.capture_store.list_gaps(control.pane) == []
        tmux("kill-pane", "-t", mux_id)


async def test_a_pipe_used_by_others_is_left_alone_and_capture_continues(tmux, cat, harness, folder):
    epoch = await start_capture(harness, cat)
    tmux("pipe-pane", "-t", cat, f"exec cat > {folder}/theirs")
    pipe = await harness.capture_store.epochs.reserve_epoch(epoch.pane, "pipe")
    assert await start_pipe(harness, cat, pipe) == "piped"
    tmux.type_line(cat, "a-word")
    await wait_until(lambda: b"a-word" in harness.capture_store.read_raw(epoch))
    assert harness.control_capture.find_epoch(cat) == epoch.id
    assert pipe.id not in harness.recorder.streams


async def test_panes_of_one_session_share_two_clients_until_the_last_ends(tmux, cat, harness):
    other, third = tmux.open_window("work", "cat"), tmux.start_session("second", "cat")
    first, second, alone = [await start_capture(harness, mux_id) for mux_id in (cat, other, third)]
    assert (harness.forks.count, harness.control_capture.session_count) == (4, 2)
    assert harness.list_client_sessions() == ["second", "second", "work", "work"]
    await end_capture(harness, cat, first)
    assert harness.control_capture.find_epoch(other) == second.id
    assert harness.list_client_sessions() == ["second", "second", "work", "work"]
    await end_capture(harness, other, second)
    await wait_until(lambda: harness.list_client_sessions() == ["second", "second"])
    assert harness.control_capture.find_epoch(third) == alone.id


async def test_output_of_other_panes_is_not_captured(tmux, cat, harness):
    other = tmux.open_window("work", "cat")
    epoch = await start_capture(harness, cat)
    tmux.type_line(other, "not-for-us")
    tmux.type_line(cat, "for-us")
    await wait_until(lambda: harness.capture_store.read_raw(epoch).count(b"for-us") == 2)
    assert b"not-for-us" not in harness.capture_store.read_raw(epoch)


async def test_a_session_that_ends_unattached_gets_no_client(tmux, cat, harness):
    (facts,) = await harness.server.list_pane_facts()
    harness.server._facts_by_pane = {cat: replace(facts, session_ends_unattached=True)}
    assert harness.server.choose_channel(cat, can_pipe=False) == "none"
    epoch = await harness.capture_store.reserve_epoch(await harness.capture_store.add_pane(cat), "control")
    with pytest.raises(MuxError):
        await harness.server.start_capture(cat, epoch, harness.sink, lines=0)
    assert (harness.forks.count, harness.list_client_sessions()) == (0, [])


@pytest.mark.parametrize(
    ("name", "value", "channel"),
    [
        ("exits_unattached", False, "control"),
        ("exits_unattached", True, "none"),
        ("client", SimpleNamespace(kind="plain", close=lambda: None), "none"),
    ],
)
async def test_no_client_attaches_where_it_would_keep_a_server_alive(harness, cat, name, value, channel):
    await harness.server.list_pane_facts()
    setattr(harness.server, name, value)
    channels = [harness.server.choose_channel(cat, can_pipe=can_pipe) for can_pipe in (False, True)]
    assert channels == [channel, "pipe"]


async def test_a_pane_that_was_never_listed_gets_no_client(harness):
    assert harness.server.choose_channel(MuxPaneId("%99"), can_pipe=False) == "none"
    with pytest.raises(MuxError):
        await start_capture(harness, "%99")


async def test_detaching_from_a_session_with_destroy_unattached_does_not_crash_its_server(tmux, cat, harness):
    for number in range(12):
        mux_id = tmux.start_session(f"fleeting-{number}", "cat")
        epoch = await start_capture(harness, mux_id)
        tmux("set", "-t", f"=fleeting-{number}:", "destroy-unattached", "on")
        await end_capture(harness, mux_id, epoch, "link_down")
        tmux("list-panes", "-a")
    await wait_until(lambda: "fleeting" not in tmux("list-sessions"))
    assert int(tmux("display-message", "-p", "#{pid}")) == harness.server.instance.pid


async def test_a_gone_pane_is_not_captured_and_leaves_no_client(tmux, cat, harness):
    gone = tmux.open_window("work", "cat")
    await harness.server.list_pane_facts()
    epoch = await harness.capture_store.epochs.reserve_epoch(await harness.capture_store.add_pane(gone), "control")
    tmux("kill-pane", "-t", gone)
    with pytest.raises(MuxError):
        await harness.server.start_capture(gone, epoch, harness.sink, lines=0)
    assert harness.control_capture.find_epoch(gone) is None
    await wait_until(lambda: harness.list_client_sessions() == [])


async def test_an_exited_client_reports_the_epochs_that_it_captured(tmux, cat, harness):
    epoch = await start_capture(harness, cat)
    tmux("detach-client", "-s", "=work")
    await wait_until(lambda: harness.news == [CaptureLost(epoch.id, "link_down")])
    assert (harness.control_capture.find_epoch(cat), harness.control_capture.session_count) == (None, 0)


async def test_the_exit_of_an_old_client_is_not_that_of_its_successor(tmux, cat, harness):
    first = await start_capture(harness, cat)
    await end_capture(harness, cat, first, "client_paused")
    second = await start_capture(harness, cat)
    await wait_until(lambda: harness.list_client_sessions() == ["work", "work"])
    assert (harness.control_capture.find_epoch(cat), harness.news) == (second.id, [])


async def test_a_paused_pane_is_reported_and_others_are_captured(tmux, cat, harness):
    other = tmux.open_window("work", "cat")
    paused, kept = await start_capture(harness, cat), await start_capture(harness, other)
    (clients,) = harness.control_capture._clients_by_session.values()
    harness.control_capture._handle_notice(clients, ControlNotice("pause", (cat,)))
    assert harness.news == [CaptureLost(paused.id, "client_paused", is_failure=False)]
    assert [harness.control_capture.find_epoch(pane) for pane in (cat, other)] == [None, kept.id]


async def test_a_pane_whose_client_died_does_not_switch_to_a_pipe_without_a_gap(tmux, cat, harness, monkeypatch):
    epoch = await start_capture(harness, cat)
    (clients,) = harness.control_capture._clients_by_session.values()
    pipe = await harness.capture_store.epochs.reserve_epoch(epoch.pane, "pipe")
    monkeypatch.setattr(clients.output, "is_open", False)
    with pytest.raises(MuxError):
        await start_pipe(harness, cat, pipe)
    assert tmux.read_format(cat, "#{pane_pipe}") == "0"
    monkeypatch.undo()


async def test_unwritable_bytes_are_reported_and_other_panes_are_captured(tmux, cat, harness):
    other = tmux.open_window("work", "cat")
    broken, sound = await start_capture(harness, cat), await start_capture(harness, other)
    with open(harness.capture_store.pipeline.build_folder_path(broken).rpartition("/")[0], "w") as file:
        file.write("a file stands where the folder should be")
    tmux.type_line(cat, "lost")
    await wait_until(lambda: harness.news == [CaptureLost(broken.id, "disk_full")])
    tmux.type_line(other, "kept")
    await wait_until(lambda: harness.capture_store.read_raw(sound).count(b"kept") == 2)
    assert harness.control_capture.find_epoch(cat) is None
    await end_capture(harness, cat, broken, "disk_full")
    assert await harness.capture_store.list_gap_causes(broken.pane) == ["disk_full"]
