"""Panes heard through real control clients: exact, bounded, and never at the expense of their server."""

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


async def ear_on(listening, mux_id: str) -> PaneCaptureState:
    facts = await listening.read_facts(mux_id)
    pane = await listening.capture_store.pane(mux_id)
    ear = PaneCaptureState(pane, MuxPaneId(mux_id), facts.session_id)
    ear.update_facts(facts)
    return ear


async def heard(listening, mux_id: str) -> PaneCaptureState:
    ear = await ear_on(listening, mux_id)
    await listening.outputs.hear(ear, listening.server, lines=50)
    return ear


def are_counted(digits: str) -> bool:
    """Whether the text is made of consecutive numbers of eight digits and a rest."""
    numbers = [int(digits[at : at + 8]) for at in range(0, len(digits) // 8 * 8, 8)]
    return len(numbers) > 100 and numbers == list(range(numbers[0], numbers[0] + len(numbers)))


async def screen_text(memory, epoch) -> str:
    """All that the pane showed when the epoch began, the row of the cursor last."""
    lines = await memory.store.output.read_lines(epoch.pane, limit=5000)
    begun = msgspec.msgpack.decode(epoch.carry, type=EpochCarry).begun
    return "".join(line.text for line in lines if line.source == "screen") + begun.text


async def test_a_pane_is_heard_from_exactly_what_it_showed(tmux, ears):
    for _ in range(3):
        mux_id = tmux.open_window("work", COUNTING)
        await wait_until(lambda mux_id=mux_id: tmux.read_format(mux_id, "#{history_size}") != "0")
        ear = await heard(ears, mux_id)
        await wait_until(lambda ear=ear: ears.capture_store.epochs.measure_size(ear.epoch) > 20_000)
        seen, log = await screen_text(ears.capture_store, ear.epoch), ears.capture_store.read_raw(ear.epoch)
        assert are_counted(seen + log.decode().replace("\r\n", ""))
        tmux("kill-pane", "-t", mux_id)
        await ears.control_capture.end_capture(ear, "pane_exited")


async def test_going_over_to_a_pipe_loses_and_doubles_nothing(tmux, ears):
    for _ in range(3):
        mux_id = tmux.open_window("work", COUNTING)
        ear = await heard(ears, mux_id)
        control, pipe = ear.epoch, await ears.capture_store.epochs.reserve_epoch(ear.pane, "pipe")
        await wait_until(lambda epoch=control: ears.capture_store.epochs.measure_size(epoch) > 5000)
        command = ears.recorder.build_handoff_command(ear.pane, pipe.id)
        assert await ears.control_capture.switch_to_pipe(ear, pipe, ears.server, command)
        await wait_until(lambda epoch=pipe: ears.capture_store.epochs.measure_size(epoch) > 5000)
        log = ears.capture_store.read_raw(control) + ears.capture_store.read_raw(pipe)
        whole = (await screen_text(ears.capture_store, control)) + log.decode().replace("\r\n", "")
        assert are_counted(whole)
        assert (ear.data_plane, await ears.capture_store.list_end_causes(ear.pane)) == ("pipe", ["joined", None])
        assert await ears.capture_store.list_gaps(ear.pane) == []
        tmux("kill-pane", "-t", mux_id)


async def test_a_pipe_that_is_taken_after_all_is_left_alone_and_hearing_goes_on(tmux, cat, ears, folder):
    ear = await heard(ears, cat)
    tmux("pipe-pane", "-t", cat, f"exec cat > {folder}/theirs")
    pipe = await ears.capture_store.epochs.reserve_epoch(ear.pane, "pipe")
    assert not await ears.control_capture.switch_to_pipe(ear, pipe, ears.server, f"touch {folder}/ours")
    tmux.type_line(cat, "a-word")
    await wait_until(lambda: b"a-word" in ears.capture_store.read_raw(ear.epoch))
    assert ear.data_plane == "control"
    assert not os.path.exists(f"{folder}/ours")


async def test_panes_of_one_session_share_a_client_and_the_last_one_lets_it_go(tmux, cat, ears):
    other, third = tmux.open_window("work", "cat"), tmux.start_session("second", "cat")
    first, second, alone = [await heard(ears, mux_id) for mux_id in (cat, other, third)]
    assert len(ears.forks) == 2
    assert sorted(ears.list_client_sessions()) == ["_visor", "second", "work"]
    await ears.control_capture.end_capture(first, "joined")
    assert ears.control_capture.is_capturing(second)
    assert sorted(ears.list_client_sessions()) == ["_visor", "second", "work"]
    await ears.control_capture.end_capture(second, "joined")
    await wait_until(lambda: sorted(ears.list_client_sessions()) == ["_visor", "second"])
    assert ears.control_capture.is_capturing(alone)


async def test_what_other_panes_print_is_not_kept(tmux, cat, ears):
    other = tmux.open_window("work", "cat")
    ear = await heard(ears, cat)
    tmux.type_line(other, "not-for-us")
    tmux.type_line(cat, "for-us")
    await wait_until(lambda: ears.capture_store.read_raw(ear.epoch).count(b"for-us") == 2)
    assert b"not-for-us" not in ears.capture_store.read_raw(ear.epoch)


async def test_a_session_that_ends_unattached_gets_no_client(tmux, cat, ears):
    ear = await ear_on(ears, cat)
    ear.ends_unattached = True
    with pytest.raises(MuxError):
        await ears.control_capture.start_capture(ear, ears.server, lines=0)
    assert len(ears.forks) == 0
    assert await ears.capture_store.list_epochs(ear.pane) == []


async def test_leaving_a_session_that_now_ends_unattached_does_not_crash_its_server(tmux, cat, ears):
    for number in range(12):
        ear = await heard(ears, tmux.start_session(f"fleeting-{number}", "cat"))
        tmux("set", "-t", f"=fleeting-{number}:", "destroy-unattached", "on")
        await ears.control_capture.end_capture(ear, "link_down")
        tmux("list-panes", "-a")
    await wait_until(lambda: "fleeting" not in tmux("list-sessions"))
    assert int(tmux("display-message", "-p", "#{pid}")) == ears.server.instance.pid


async def test_a_pane_that_is_gone_is_not_heard_and_leaves_nothing_open(tmux, cat, ears):
    ear = await ear_on(ears, cat)
    ear.mux_id = MuxPaneId("%99")
    with pytest.raises(MuxError):
        await ears.control_capture.start_capture(ear, ears.server, lines=0)
    assert (ear.data_plane, ear.epoch) == ("none", None)
    assert await ears.capture_store.list_end_causes(ear.pane) == ["joined"]
    assert ears.list_client_sessions() == ["_visor"]


async def test_a_client_that_ended_tells_which_panes_it_heard(tmux, cat, ears):
    ear = await heard(ears, cat)
    tmux("detach-client", "-s", "=work")
    await wait_until(lambda: not ears.control_capture.is_capturing(ear))
    assert [notice.name for _, notice in ears.notices if notice.name == "exit"] == ["exit"]
    assert ears.control_capture.pop_ended_client(ear.session_id) == {cat}
    assert ears.control_capture.pop_ended_client(ear.session_id) == set()


async def test_the_end_of_an_old_client_is_not_taken_for_the_end_of_the_one_in_its_place(tmux, cat, ears):
    first = await heard(ears, cat)
    await ears.control_capture.end_capture(first, "client_paused")
    second = await heard(ears, cat)
    assert "exit" in [notice.name for _, notice in ears.notices]
    assert ears.control_capture.pop_ended_client(second.session_id) == set()
    assert ears.control_capture.is_capturing(second)


async def test_a_pane_whose_client_died_does_not_go_over_to_a_pipe_as_if_nothing_were_missing(tmux, cat, ears, folder):
    ear = await heard(ears, cat)
    tmux("detach-client", "-s", "=work")
    await wait_until(lambda: not ears.control_capture.is_capturing(ear))
    pipe = await ears.capture_store.epochs.reserve_epoch(ear.pane, "pipe")
    with pytest.raises(MuxError):
        await ears.control_capture.switch_to_pipe(ear, pipe, ears.server, f"touch {folder}/ours")
    assert tmux.read_format(cat, "#{pane_pipe}") == "0"


async def test_bytes_that_cannot_be_kept_are_told_and_the_others_are_kept(tmux, cat, ears):
    other = tmux.open_window("work", "cat")
    broken, sound = await heard(ears, cat), await heard(ears, other)
    with open(ears.capture_store.pipeline.build_folder_path(broken.epoch).rpartition("/")[0], "w") as file:
        file.write("a file stands where the folder should be")
    tmux.type_line(cat, "lost")
    await wait_until(
        lambda: any(notice.name == UNWRITABLE_NOTICE and notice.arguments == (cat,) for _, notice in ears.notices)
    )
    tmux.type_line(other, "kept")
    await wait_until(lambda: ears.capture_store.read_raw(sound.epoch).count(b"kept") == 2)
    await ears.control_capture.end_capture(broken, "disk_full")
    assert await ears.capture_store.list_gap_causes(broken.pane) == ["disk_full"]
