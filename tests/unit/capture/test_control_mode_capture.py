"""Capture panes through real control-mode clients: exact, bounded and harmless for the server."""

import os
import sys

import msgspec
import pytest

from termvisor.capture.control_mode_capture import UNWRITABLE_NOTICE
from termvisor.capture.pane_capture_state import PaneCaptureState
from termvisor.errors import MuxError
from termvisor.model.ids import MuxPaneId
from termvisor.pipeline.epoch_reader import EpochCarry
from tests.unit.wait_until import wait_until

COUNTING = f'exec {sys.executable} -c "import itertools\nfor n in itertools.count(10**7): print(n)"'
"""Numbers of eight digits, as fast as they go."""


async def build_state(harness, mux_id: str) -> PaneCaptureState:
    facts = await harness.read_facts(mux_id)
    pane = await harness.capture_store.add_pane(mux_id)
    state = PaneCaptureState(pane, MuxPaneId(mux_id), facts.session_id)
    state.update_facts(facts)
    return state


async def start_capture(harness, mux_id: str) -> PaneCaptureState:
    state = await build_state(harness, mux_id)
    await harness.control_capture.start_capture(state, harness.server, lines=50)
    return state


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
        state = await start_capture(harness, mux_id)
        await wait_until(lambda state=state: harness.capture_store.epochs.measure_size(state.epoch) > 20_000)
        seen, log = (
            await read_first_screen(harness.capture_store, state.epoch),
            harness.capture_store.read_raw(state.epoch),
        )
        assert is_counted(seen + log.decode().replace("\r\n", ""))
        tmux("kill-pane", "-t", mux_id)
        await harness.control_capture.end_capture(state, "pane_exited")


async def test_switching_to_a_pipe_loses_and_duplicates_no_bytes(tmux, harness):
    for _ in range(3):
        mux_id = tmux.open_window("work", COUNTING)
        state = await start_capture(harness, mux_id)
        control, pipe = state.epoch, await harness.capture_store.epochs.reserve_epoch(state.pane, "pipe")
        await wait_until(lambda epoch=control: harness.capture_store.epochs.measure_size(epoch) > 5000)
        command = harness.recorder.build_handoff_command(state.pane, pipe.id)
        assert await harness.control_capture.switch_to_pipe(state, pipe, harness.server, command)
        await wait_until(lambda epoch=pipe: harness.capture_store.epochs.measure_size(epoch) > 5000)
        log = harness.capture_store.read_raw(control) + harness.capture_store.read_raw(pipe)
        text = (await read_first_screen(harness.capture_store, control)) + log.decode().replace("\r\n", "")
        assert is_counted(text)
        assert (state.data_plane, await harness.capture_store.list_end_causes(state.pane)) == ("pipe", ["joined", None])
        assert await harness.capture_store.list_gaps(state.pane) == []
        tmux("kill-pane", "-t", mux_id)


async def test_a_pipe_used_by_others_is_left_alone_and_capture_continues(tmux, cat, harness, folder):
    state = await start_capture(harness, cat)
    tmux("pipe-pane", "-t", cat, f"exec cat > {folder}/theirs")
    pipe = await harness.capture_store.epochs.reserve_epoch(state.pane, "pipe")
    assert not await harness.control_capture.switch_to_pipe(state, pipe, harness.server, f"touch {folder}/ours")
    tmux.type_line(cat, "a-word")
    await wait_until(lambda: b"a-word" in harness.capture_store.read_raw(state.epoch))
    assert state.data_plane == "control"
    assert not os.path.exists(f"{folder}/ours")


async def test_panes_of_one_session_share_two_clients_until_the_last_ends(tmux, cat, harness):
    other, third = tmux.open_window("work", "cat"), tmux.start_session("second", "cat")
    first, second, alone = [await start_capture(harness, mux_id) for mux_id in (cat, other, third)]
    assert (len(harness.forks), harness.control_capture.session_count) == (4, 2)
    assert harness.list_client_sessions() == ["second", "second", "work", "work"]
    await harness.control_capture.end_capture(first, "joined")
    assert harness.control_capture.is_capturing(second)
    assert harness.list_client_sessions() == ["second", "second", "work", "work"]
    await harness.control_capture.end_capture(second, "joined")
    await wait_until(lambda: harness.list_client_sessions() == ["second", "second"])
    assert harness.control_capture.is_capturing(alone)


async def test_output_of_other_panes_is_not_captured(tmux, cat, harness):
    other = tmux.open_window("work", "cat")
    state = await start_capture(harness, cat)
    tmux.type_line(other, "not-for-us")
    tmux.type_line(cat, "for-us")
    await wait_until(lambda: harness.capture_store.read_raw(state.epoch).count(b"for-us") == 2)
    assert b"not-for-us" not in harness.capture_store.read_raw(state.epoch)


async def test_a_session_that_ends_unattached_gets_no_client(tmux, cat, harness):
    state = await build_state(harness, cat)
    state.ends_unattached = True
    with pytest.raises(MuxError):
        await harness.control_capture.start_capture(state, harness.server, lines=0)
    assert len(harness.forks) == 0
    assert await harness.capture_store.list_epochs(state.pane) == []


async def test_detaching_from_a_session_with_destroy_unattached_does_not_crash_its_server(tmux, cat, harness):
    for number in range(12):
        state = await start_capture(harness, tmux.start_session(f"fleeting-{number}", "cat"))
        tmux("set", "-t", f"=fleeting-{number}:", "destroy-unattached", "on")
        await harness.control_capture.end_capture(state, "link_down")
        tmux("list-panes", "-a")
    await wait_until(lambda: "fleeting" not in tmux("list-sessions"))
    assert int(tmux("display-message", "-p", "#{pid}")) == harness.server.instance.pid


async def test_a_gone_pane_is_not_captured_and_leaves_no_open_epoch(tmux, cat, harness):
    state = await build_state(harness, cat)
    state.mux_id = MuxPaneId("%99")
    with pytest.raises(MuxError):
        await harness.control_capture.start_capture(state, harness.server, lines=0)
    assert (state.data_plane, state.epoch) == ("none", None)
    assert await harness.capture_store.list_end_causes(state.pane) == ["joined"]
    await wait_until(lambda: harness.list_client_sessions() == [])


async def test_an_exited_client_returns_the_panes_it_captured(tmux, cat, harness):
    state = await start_capture(harness, cat)
    tmux("detach-client", "-s", "=work")
    await wait_until(lambda: not harness.control_capture.is_capturing(state))
    assert [notice.name for _, notice in harness.notices if notice.name == "exit"] == ["exit"]
    assert harness.control_capture.pop_ended_client(state.session_id) == {cat}
    assert harness.control_capture.pop_ended_client(state.session_id) == set()


async def test_the_exit_of_an_old_client_is_not_that_of_its_successor(tmux, cat, harness):
    first = await start_capture(harness, cat)
    await harness.control_capture.end_capture(first, "client_paused")
    second = await start_capture(harness, cat)
    assert "exit" in [notice.name for _, notice in harness.notices]
    assert harness.control_capture.pop_ended_client(second.session_id) == set()
    assert harness.control_capture.is_capturing(second)


async def test_a_pane_whose_client_died_does_not_switch_to_a_pipe_without_a_gap(tmux, cat, harness, folder):
    state = await start_capture(harness, cat)
    tmux("detach-client", "-s", "=work")
    await wait_until(lambda: not harness.control_capture.is_capturing(state))
    pipe = await harness.capture_store.epochs.reserve_epoch(state.pane, "pipe")
    with pytest.raises(MuxError):
        await harness.control_capture.switch_to_pipe(state, pipe, harness.server, f"touch {folder}/ours")
    assert tmux.read_format(cat, "#{pane_pipe}") == "0"


async def test_unwritable_bytes_are_reported_and_other_panes_are_captured(tmux, cat, harness):
    other = tmux.open_window("work", "cat")
    broken, sound = await start_capture(harness, cat), await start_capture(harness, other)
    with open(harness.capture_store.pipeline.build_folder_path(broken.epoch).rpartition("/")[0], "w") as file:
        file.write("a file stands where the folder should be")
    tmux.type_line(cat, "lost")
    await wait_until(
        lambda: any(notice.name == UNWRITABLE_NOTICE and notice.arguments == (cat,) for _, notice in harness.notices)
    )
    tmux.type_line(other, "kept")
    await wait_until(lambda: harness.capture_store.read_raw(sound.epoch).count(b"kept") == 2)
    await harness.control_capture.end_capture(broken, "disk_full")
    assert await harness.capture_store.list_gap_causes(broken.pane) == ["disk_full"]
