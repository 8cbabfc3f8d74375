"""How the panes of a real server are heard by a real recorder, and what is said when they are not."""

import os
import signal
from pathlib import Path

import pytest

from termvisor.backends.tmux.client import ControlClient, PlainClient
from termvisor.backends.tmux.control_mode import ControlNotice
from termvisor.capture.control_mode_capture import UNWRITABLE_NOTICE
from termvisor.capture.recorder_client import StreamOpened
from termvisor.clock import NS
from termvisor.model.terminal.output import Gap
from tests.unit.capture.capture_harness import CaptureHarness
from tests.unit.wait_until import wait_until


def steal(ears: CaptureHarness, mux_id: str, path: str) -> None:
    ears.tmux("pipe-pane", "-t", mux_id, f"exec cat >> {path}")


def holds(path: str, word: str) -> bool:
    return os.path.exists(path) and word in Path(path).read_text()


async def test_a_pane_is_heard_through_its_pipe(ears, cat):
    pane = await ears.adopt_pane(cat)
    await ears.wait_captured(cat)
    await ears.type_and_wait(cat, "hello")
    assert ears.tmux.read_format(cat, "#{pane_pipe}") == "1"
    assert await ears.capture_store.list_gaps() == []
    assert await ears.capture_store.list_end_causes(pane) == [None]


async def test_many_panes_are_opened_a_few_at_a_time(ears, cat):
    panes = [cat, *(ears.tmux.open_window("work", "cat") for _ in range(11))]
    for mux_id in panes:
        await ears.adopt_pane(mux_id)
    await ears.captures.run_step()
    assert sum(ears.get_data_plane(mux_id) == "pipe" for mux_id in panes) == 8
    await ears.run_until(lambda: all(ears.is_held(mux_id) for mux_id in panes))


async def test_a_pipe_that_was_there_first_is_never_touched_and_the_pane_is_heard_by_control(ears, cat, folder):
    steal(ears, cat, f"{folder}/theirs")
    pane = await ears.adopt_pane(cat)
    await ears.wait_captured(cat, "control")
    await ears.type_and_wait(cat, "for-both")
    await wait_until(lambda: holds(f"{folder}/theirs", "for-both"))
    assert await ears.capture_store.list_gaps(pane) == []


async def test_when_its_owner_closes_it_the_pane_goes_over_to_our_pipe_without_a_gap(ears, cat, folder):
    steal(ears, cat, f"{folder}/theirs")
    pane = await ears.adopt_pane(cat)
    await ears.wait_captured(cat, "control")
    await ears.type_and_wait(cat, "by-control")
    ears.tmux("pipe-pane", "-t", cat)
    await ears.wait_captured(cat, "pipe")
    await ears.type_and_wait(cat, "by-pipe")
    assert await ears.capture_store.list_end_causes(pane) == ["joined", None]
    assert await ears.capture_store.list_gaps(pane) == []


async def test_a_stolen_pipe_is_a_gap_that_ends_when_the_pane_is_heard_another_way(ears, cat, folder):
    pane = await ears.adopt_pane(cat)
    await ears.wait_captured(cat)
    await ears.type_and_wait(cat, "before")
    steal(ears, cat, f"{folder}/theirs")
    await ears.wait_captured(cat, "control")
    await ears.type_and_wait(cat, "after")
    (gap,) = await ears.capture_store.list_gaps(pane)
    assert (gap.cause, gap.end_at is None) == ("pipe_stolen", False)
    await wait_until(lambda: holds(f"{folder}/theirs", "after"))


async def test_a_pane_whose_pipe_somebody_closed_is_not_piped_again(ears, cat):
    pane = await ears.adopt_pane(cat)
    await ears.wait_captured(cat)
    ears.tmux("pipe-pane", "-t", cat)
    await ears.wait_captured(cat, "control")
    await ears.type_and_wait(cat, "still-heard")
    assert await ears.capture_store.list_gap_causes(pane) == ["pipe_closed"]
    assert ears.tmux.read_format(cat, "#{pane_pipe}") == "0"


async def test_nor_by_a_later_daemon(ears, cat):
    pane = await ears.adopt_pane(cat)
    await ears.capture_store.store.output.record_gap(Gap(pane=pane, cause="pipe_closed", start_at=1, end_at=2))
    await ears.captures.release_pane(cat)
    await ears.adopt_pane(cat)
    await ears.wait_captured(cat, "control")
    assert ears.tmux.read_format(cat, "#{pane_pipe}") == "0"


async def test_a_killed_recorder_is_one_gap_and_every_pane_is_piped_again(ears, cat):
    pane = await ears.adopt_pane(cat)
    await ears.wait_captured(cat)
    await ears.type_and_wait(cat, "before")
    os.kill(ears.recorder.pid, signal.SIGKILL)
    await ears.run_until(lambda: ears.get_data_plane(cat) == "none")
    await ears.recorder.start()
    await ears.wait_captured(cat)
    await ears.type_and_wait(cat, "after")
    (gap,) = await ears.capture_store.list_gaps(pane)
    assert (gap.cause, gap.end_at is None) == ("recorder_restart", False)
    assert (await ears.capture_store.read_lines(pane)).count("before") == 2


async def test_a_pipe_that_came_after_ours_died_is_not_taken_for_ours(ears, cat, folder):
    pane = await ears.adopt_pane(cat)
    await ears.wait_captured(cat)
    os.kill(ears.recorder.pid, signal.SIGKILL)
    await ears.run_until(lambda: ears.get_data_plane(cat) == "none")
    ears.tmux("pipe-pane", "-t", cat)
    await ears.run_turn()
    steal(ears, cat, f"{folder}/theirs")
    await ears.recorder.start()
    await ears.wait_captured(cat, "control")
    await ears.type_and_wait(cat, "for-both")
    await wait_until(lambda: holds(f"{folder}/theirs", "for-both"))
    assert await ears.capture_store.list_gap_causes(pane) == ["recorder_restart"]


async def test_a_dead_pane_is_not_piped_and_one_that_runs_again_is(ears, cat):
    ears.tmux("set", "-g", "remain-on-exit", "on")
    dead = ears.tmux.open_window("work", "exit 3")
    await wait_until(lambda: ears.tmux.read_format(dead, "#{pane_dead}") == "1")
    pane = await ears.adopt_pane(dead)
    await ears.run_turn()
    assert (ears.get_data_plane(dead), await ears.capture_store.list_epochs(pane)) == ("none", [])
    ears.tmux("respawn-pane", "-t", dead, "cat")
    await ears.wait_captured(dead)
    await ears.type_and_wait(dead, "alive")
    assert await ears.capture_store.list_gaps(pane) == []


async def test_a_pane_that_stays_when_its_program_exits_keeps_its_pipe_for_the_next_one(ears, cat):
    ears.tmux("set", "-g", "remain-on-exit", "on")
    shell = ears.tmux.open_window("work", "read line; echo last-words")
    pane = await ears.adopt_pane(shell)
    await ears.wait_captured(shell)
    ears.tmux.type_line(shell, "go")
    await wait_until(lambda: ears.tmux.read_format(shell, "#{pane_dead}") == "1")
    await ears.run_turn()
    ears.tmux("respawn-pane", "-t", shell, "cat")
    await ears.type_and_wait(shell, "next")
    assert "last-words" in await ears.capture_store.read_lines(pane)
    assert await ears.capture_store.list_end_causes(pane) == [None]
    assert await ears.capture_store.list_gaps(pane) == []


async def test_a_pane_that_is_gone_ends_when_its_last_byte_was_read(ears, cat):
    shell = ears.tmux.open_window("work", "read line; echo last-words")
    pane = await ears.adopt_pane(shell)
    await ears.wait_captured(shell)
    ears.tmux.type_line(shell, "go")
    await ears.captures.release_pane(shell)
    assert not ears.captures.is_drained
    await ears.run_until(lambda: ears.captures.is_drained)
    assert "last-words" in await ears.capture_store.read_lines(pane)
    (gap,) = await ears.capture_store.list_gaps(pane)
    assert (gap.cause, gap.end_at is None) == ("tail_uncertain", False)


async def test_a_pipe_whose_end_does_not_come_is_closed_by_us(ears, cat):
    pane = await ears.adopt_pane(cat)
    await ears.wait_captured(cat)
    await ears.captures.release_pane(cat)
    ears.capture_store.clock.advance_s += 3
    await ears.run_until(lambda: ears.captures.is_drained)
    assert await ears.capture_store.list_end_causes(pane) == ["pane_exited"]


async def test_what_never_reached_the_recorder_ends_too(ears, cat, monkeypatch):
    monkeypatch.setattr(ears.recorder, "build_handoff_command", lambda pane, epoch: "exec sleep 1000")
    pane = await ears.adopt_pane(cat)
    await ears.run_turn()
    await ears.captures.release_pane(cat)
    ears.capture_store.clock.advance_s += 3
    await ears.run_until(lambda: ears.captures.is_drained, turns=5)
    assert await ears.capture_store.list_end_causes(pane) == ["pane_exited"]


async def test_a_helper_that_does_not_reach_the_recorder_is_a_gap_and_another_try(ears, cat, monkeypatch):
    real = ears.recorder.build_handoff_command
    monkeypatch.setattr(ears.recorder, "build_handoff_command", lambda pane, epoch: "exec true")
    pane = await ears.adopt_pane(cat)
    await ears.run_turn()
    assert ears.get_data_plane(cat) == "pipe"
    ears.capture_store.clock.advance_s += 7
    await ears.run_turn()
    (gap,) = await ears.capture_store.list_gaps(pane)
    assert (gap.cause, gap.end_at) == ("recorder_restart", None)
    assert "helper" in gap.detail
    monkeypatch.setattr(ears.recorder, "build_handoff_command", real)
    ears.tmux.type_line(cat, "so that tmux notices")
    ears.capture_store.clock.advance_s += 7
    await ears.wait_captured(cat)
    assert [gap.end_at is None for gap in await ears.capture_store.list_gaps(pane)] == [False]


async def test_a_pipe_that_was_given_up_is_closed_when_it_comes_after_all(ears, cat):
    pane = await ears.adopt_pane(cat)
    epoch = await ears.capture_store.epochs.reserve_epoch(pane, "pipe")
    await ears.captures._abandon_epoch(epoch)
    await ears.server.open_pipe(cat, ears.recorder.build_handoff_command(pane, epoch.id), lines=0)
    await wait_until(lambda: StreamOpened(epoch.id) in ears.updates)
    for item in list(ears.updates):
        await ears.captures.handle_stream_update(item)
    await wait_until(lambda: ears.recorder.streams[epoch.id].state == "ended")
    await ears.run_until(lambda: epoch.id not in ears.recorder.streams)
    await ears.wait_captured(cat, "control")
    ears.tmux.type_line(cat, "so that tmux notices")
    await ears.wait_captured(cat)
    assert await ears.capture_store.list_end_causes(pane) == ["joined", "joined", None]
    assert await ears.capture_store.list_gaps(pane) == []


async def test_an_epoch_that_the_recorder_still_holds_goes_on_without_a_gap(ears, cat):
    pane = await ears.adopt_pane(cat)
    await ears.wait_captured(cat)
    await ears.type_and_wait(cat, "before")
    await ears.restart()
    await ears.adopt_pane(cat)
    assert ears.is_held(cat)
    await ears.type_and_wait(cat, "after")
    assert await ears.capture_store.list_end_causes(pane) == [None]
    assert await ears.capture_store.list_gaps(pane) == []


async def test_a_gap_that_was_left_open_before_it_ends_where_it_began(ears, cat):
    pane = await ears.adopt_pane(cat)
    await ears.wait_captured(cat)
    (epoch,) = await ears.capture_store.list_epochs(pane)
    gap = Gap(pane=pane, cause="recorder_restart", start_at=epoch.opened_at - NS)
    await ears.capture_store.store.output.record_gap(gap)
    await ears.restart()
    await ears.adopt_pane(cat)
    (gap,) = await ears.capture_store.list_gaps(pane)
    assert (gap.before, gap.end_at) == (epoch.id, epoch.opened_at)


async def test_an_epoch_that_was_reserved_and_never_heard_leaves_no_gap(ears, cat):
    pane = await ears.adopt_pane(cat)
    await ears.capture_store.reserve_epoch(pane)
    await ears.restart()
    await ears.adopt_pane(cat)
    assert await ears.capture_store.list_end_causes(pane) == ["joined"]
    await ears.wait_captured(cat)
    assert await ears.capture_store.list_gaps(pane) == []


async def test_an_epoch_that_nobody_recorded_any_more_ended_with_its_last_byte(ears, cat):
    pane = await ears.adopt_pane(cat)
    epoch = await ears.capture_store.reserve_epoch(pane)
    ears.capture_store.write_output(epoch, b"recorded\r\nunfinished")
    last_at = ears.capture_store.epochs.find_last_byte_time(epoch)
    await ears.restart()
    await ears.adopt_pane(cat)
    (gap,) = await ears.capture_store.list_gaps(pane)
    assert (gap.cause, gap.start_at, gap.end_at) == ("recorder_restart", last_at, None)
    assert await ears.capture_store.read_lines(pane) == ["recorded", "unfinished"]


async def test_a_log_that_was_cut_while_no_daemon_ran_is_a_gap_and_the_pane_is_heard_anew(ears, cat):
    pane = await ears.adopt_pane(cat)
    await ears.wait_captured(cat)
    await ears.type_and_wait(cat, "first")
    (epoch,) = await ears.capture_store.list_epochs(pane)
    (raw,) = Path(ears.capture_store.pipeline.build_folder_path(epoch)).glob("*.raw")
    os.truncate(raw, 3)
    await ears.restart()
    await ears.adopt_pane(cat)
    assert await ears.capture_store.list_gap_causes(pane) == ["log_truncated"]
    await ears.wait_captured(cat)
    await ears.type_and_wait(cat, "second")
    assert await ears.capture_store.list_end_causes(pane) == ["log_truncated", None]
    assert await ears.capture_store.list_gap_causes(pane) == ["log_truncated"]


async def test_of_two_epochs_that_were_left_open_the_older_ends_and_the_newer_goes_on(ears, cat):
    """The daemon was killed while a pane went over from control to its pipe."""
    pane = await ears.adopt_pane(cat)
    old = await ears.capture_store.reserve_epoch(pane, "control")
    ears.capture_store.write_output(old, b"by control\r\n")
    await ears.wait_captured(cat)
    await ears.restart()
    await ears.adopt_pane(cat)
    assert ears.is_held(cat)
    assert await ears.capture_store.list_end_causes(pane) == ["link_down", None]
    (gap,) = await ears.capture_store.list_gaps(pane)
    assert (gap.cause, gap.after, gap.end_at is None) == ("link_down", old.id, False)
    assert gap.end_at >= gap.start_at


async def test_a_pipe_that_was_stolen_while_no_daemon_ran_is_a_gap_since_then(ears, cat, folder):
    pane = await ears.adopt_pane(cat)
    await ears.wait_captured(cat)
    await ears.type_and_wait(cat, "before")
    steal(ears, cat, f"{folder}/theirs")
    await wait_until(lambda: next(iter(ears.recorder.streams.values())).state == "ended")
    stolen_at = ears.capture_store.clock.now()
    await ears.restart()
    await ears.adopt_pane(cat)
    (gap,) = await ears.capture_store.list_gaps(pane)
    assert gap.cause == "pipe_stolen"
    assert gap.start_at <= stolen_at


@pytest.fixture
async def person(ears):
    """Somebody who is attached to a session of their own, in which the pane's pipe is theirs too."""
    mux_id = ears.tmux.start_session("theirs", "cat")
    argv = ["tmux", "-S", ears.tmux.socket, "-C", "attach-session", "-t", "=theirs", "-f", "no-output"]
    client = ControlClient(argv, on_notice=lambda notice: None)
    await client.wait_until_attached()
    ears.tmux("pipe-pane", "-t", mux_id, "exec cat > /dev/null")
    yield mux_id
    client.close()


def attached(ears: CaptureHarness, session: str) -> int:
    return ears.list_client_sessions().count(session)


async def test_a_session_that_ends_unattached_gets_no_client_of_ours_and_what_is_missed_is_said(ears, person):
    ears.tmux("set", "-t", "=theirs:", "destroy-unattached", "on")
    pane = await ears.adopt_pane(person)
    for _ in range(3):
        await ears.run_turn()
    assert (ears.get_data_plane(person), attached(ears, "theirs")) == ("none", 1)
    (gap,) = await ears.capture_store.list_gaps(pane)
    assert (gap.cause, gap.end_at) == ("link_down", None)
    ears.tmux("set", "-t", "=theirs:", "destroy-unattached", "off")
    await ears.wait_captured(person, "control")
    await ears.type_and_wait(person, "heard-at-last")
    assert [gap.end_at is None for gap in await ears.capture_store.list_gaps(pane)] == [False]


async def test_our_client_leaves_when_its_session_comes_to_end_unattached_and_the_server_lives_on(ears, person):
    pane = await ears.adopt_pane(person)
    await ears.wait_captured(person, "control")
    await ears.type_and_wait(person, "heard")
    ears.tmux("set", "-t", "=theirs:", "destroy-unattached", "on")
    await ears.run_until(lambda: ears.get_data_plane(person) == "none")
    await wait_until(lambda: attached(ears, "theirs") == 1)
    assert [(gap.cause, gap.end_at) for gap in await ears.capture_store.list_gaps(pane)] == [("link_down", None)]
    assert int(ears.tmux("display-message", "-p", "#{pid}")) == ears.server.instance.pid
    ears.tmux("set", "-t", "=theirs:", "destroy-unattached", "off")
    await ears.wait_captured(person, "control")


async def test_our_client_leaves_when_the_server_comes_to_end_unattached(ears, person):
    pane = await ears.adopt_pane(person)
    await ears.wait_captured(person, "control")
    ears.server.exits_unattached = True
    await ears.run_turn()
    assert (ears.get_data_plane(person), attached(ears, "theirs")) == ("none", 1)
    assert await ears.capture_store.list_gap_causes(pane) == ["link_down"]
    ears.server.exits_unattached = False
    await ears.wait_captured(person, "control")


async def test_without_a_control_client_a_foreign_pipe_is_a_gap_from_the_first_moment(memory, tmux, cat, folder):
    plain = await CaptureHarness(memory, tmux).open(PlainClient("tmux", tmux.socket, lambda: None))
    steal(plain, cat, f"{folder}/theirs")
    pane = await plain.adopt_pane(cat)
    for _ in range(3):
        await plain.run_turn()
    (gap,) = await memory.list_gaps(pane)
    assert (gap.cause, gap.end_at, plain.get_data_plane(cat)) == ("link_down", None, "none")
    await plain.close()


async def test_a_pane_that_moves_to_another_session_is_heard_there(ears, cat, folder):
    other = ears.tmux.start_session("other", "cat")
    steal(ears, cat, f"{folder}/theirs")
    pane = await ears.adopt_pane(cat)
    await ears.wait_captured(cat, "control")
    await ears.type_and_wait(cat, "here")
    ears.tmux("join-pane", "-d", "-s", cat, "-t", other)
    await ears.run_until(lambda: attached(ears, "other") and ears.get_data_plane(cat) == "control")
    await ears.type_and_wait(cat, "there")
    (gap,) = await ears.capture_store.list_gaps(pane)
    assert (gap.cause, gap.end_at is None) == ("link_down", False)
    assert (attached(ears, "other"), attached(ears, "work")) == (1, 0)


async def test_a_client_that_is_thrown_out_is_a_gap_and_comes_back(ears, cat, folder):
    steal(ears, cat, f"{folder}/theirs")
    pane = await ears.adopt_pane(cat)
    await ears.wait_captured(cat, "control")
    ears.tmux("detach-client", "-s", "=work")
    await ears.run_until(lambda: ears.get_data_plane(cat) == "none")
    ears.capture_store.clock.advance_s += 1
    await ears.wait_captured(cat, "control")
    await ears.type_and_wait(cat, "back")
    assert await ears.capture_store.list_gap_causes(pane) == ["link_down"]


async def test_what_a_paused_client_did_not_hear_is_a_gap(ears, cat, folder):
    steal(ears, cat, f"{folder}/theirs")
    pane = await ears.adopt_pane(cat)
    await ears.wait_captured(cat, "control")
    session_id = ears.captures.find_pane(cat).session_id
    ears.notices.append((session_id, ControlNotice("pause", (cat,))))
    await ears.run_turn()
    await ears.type_and_wait(cat, "goes-on")
    assert await ears.capture_store.list_gap_causes(pane) == ["client_paused"]
    assert await ears.capture_store.list_end_causes(pane) == ["client_paused", None]


async def test_a_full_disk_ends_what_control_hears(ears, cat, folder):
    steal(ears, cat, f"{folder}/theirs")
    pane = await ears.adopt_pane(cat)
    await ears.wait_captured(cat, "control")
    ears.notices.append((ears.captures.find_pane(cat).session_id, ControlNotice(UNWRITABLE_NOTICE, (cat,))))
    await ears.run_turn()
    assert ears.get_data_plane(cat) == "none"
    assert await ears.capture_store.list_gap_causes(pane) == ["disk_full"]


async def test_stopping_closes_our_pipes_and_leaves_theirs(ears, cat, folder):
    other = ears.tmux.open_window("work", "cat")
    steal(ears, other, f"{folder}/theirs")
    ours, theirs = await ears.adopt_pane(cat), await ears.adopt_pane(other)
    await ears.wait_captured(cat)
    await ears.wait_captured(other, "control")
    await ears.captures.stop(keep_pipes=False)
    await ears.run_until(lambda: ears.captures.is_drained)
    assert (ears.tmux.read_format(cat, "#{pane_pipe}"), ears.tmux.read_format(other, "#{pane_pipe}")) == ("0", "1")
    assert await ears.capture_store.list_end_causes(ours) == ["stopped"]
    assert await ears.capture_store.list_gap_causes(ours) == ["recorder_restart"]
    assert await ears.capture_store.list_end_causes(theirs) == ["link_down"]
    assert [gap.end_at for gap in await ears.capture_store.list_gaps()] == [None, None]
    assert ears.list_client_sessions() == ["_visor"]


async def test_a_pipe_that_was_stolen_just_before_we_stop_is_not_closed(ears, cat, folder):
    await ears.adopt_pane(cat)
    await ears.wait_captured(cat)
    steal(ears, cat, f"{folder}/theirs")
    await wait_until(lambda: next(iter(ears.recorder.streams.values())).state == "ended")
    await ears.captures.stop(keep_pipes=False)
    assert ears.tmux.read_format(cat, "#{pane_pipe}") == "1"


async def test_stopping_for_a_later_daemon_keeps_the_pipes_and_the_epochs(ears, cat):
    pane = await ears.adopt_pane(cat)
    await ears.wait_captured(cat)
    await ears.captures.stop(keep_pipes=True)
    assert ears.tmux.read_format(cat, "#{pane_pipe}") == "1"
    assert await ears.capture_store.list_end_causes(pane) == [None]


async def test_when_the_server_is_gone_every_pane_ends_with_one_gap(ears, cat):
    pane = await ears.adopt_pane(cat)
    await ears.wait_captured(cat)
    await ears.type_and_wait(cat, "last")
    ears.tmux.kill_server()
    await wait_until(lambda: not ears.captures.is_server_alive)
    await ears.captures.release_all("server_gone")
    while ears.updates or not ears.captures.is_drained:
        await ears.deliver_updates()
        await ears.captures.run_step()
    (gap,) = await ears.capture_store.list_gaps(pane)
    assert (gap.cause, gap.end_at is None) == ("server_gone", False)


async def test_an_output_client_that_keeps_ending_is_held_down_told_and_taken_up_again(ears, cat, folder):
    ears.tmux("pipe-pane", "-O", "-t", cat, f"cat >> {folder}/theirs")
    pane = await ears.adopt_pane(cat)
    for _ in range(5):
        await ears.wait_captured(cat, "control")
        (client, _) = next(iter(ears.control_capture._clients_by_session.values()))
        os.kill(client.pid, signal.SIGKILL)
        await ears.run_until(lambda: ears.get_data_plane(cat) == "none")
        ears.capture_store.clock.advance_s += 40
    alerts = ears.capture_store.event_log.alerts
    assert f"listening to pane {pane} keeps failing" in alerts[f"panes:{ears.tmux.socket}"]
    await ears.run_turn()
    assert ears.get_data_plane(cat) == "none"
    assert len(ears.forks) == 5
    ears.capture_store.clock.advance_s += 261
    await ears.wait_captured(cat, "control")
    await ears.run_turn()
    assert alerts == {}
    assert (await ears.capture_store.list_event_kinds()).count("alert") == 1
