"""Capture the panes of a real tmux server with a real recorder, and record gaps."""

import os
import resource
import signal
from pathlib import Path

import pytest

from termvisor.backends.capture_sink import StreamHandoff
from termvisor.backends.pane_source import CaptureLost
from termvisor.backends.tmux.control_client import ControlClient
from termvisor.backends.tmux.plain_client import PlainClient
from termvisor.capture import raw_log
from termvisor.capture.recorder_client import RecordedStream
from termvisor.clock import NS
from termvisor.model.terminal.output import Gap
from tests.unit.capture.capture_harness import CaptureHarness
from tests.unit.wait_until import wait_until


def steal_pipe(harness: CaptureHarness, mux_id: str, path: str) -> None:
    harness.tmux("pipe-pane", "-t", mux_id, f"exec cat >> {path}")


def plan_program(*argv: str):
    """Return a function that plans to run this program with the pane's output, instead of a hand-off."""
    return lambda pane, epoch: StreamHandoff(argv, "/nowhere", f"{pane}/{epoch}")


def file_contains(path: str, word: str) -> bool:
    return os.path.exists(path) and word in Path(path).read_text()


async def test_a_pane_is_captured_through_its_pipe(harness, cat):
    pane = await harness.adopt_pane(cat)
    await harness.wait_captured(cat)
    await harness.type_and_wait(cat, "hello")
    assert harness.tmux.read_format(cat, "#{pane_pipe}") == "1"
    assert await harness.capture_store.list_gaps() == []
    assert await harness.capture_store.list_end_causes(pane) == [None]


async def test_many_panes_are_opened_a_few_at_a_time(harness, cat):
    panes = [cat, *(harness.tmux.open_window("work", "cat") for _ in range(11))]
    for mux_id in panes:
        await harness.adopt_pane(mux_id)
    assert await harness.captures.run_step()
    assert sum(harness.get_data_plane(mux_id) == "pipe" for mux_id in panes) == 4
    await harness.run_until(lambda: all(harness.is_held(mux_id) for mux_id in panes))


async def test_a_foreign_pipe_is_never_touched_and_control_mode_captures(harness, cat, folder):
    steal_pipe(harness, cat, f"{folder}/theirs")
    pane = await harness.adopt_pane(cat)
    await harness.wait_captured(cat, "control")
    await harness.type_and_wait(cat, "for-both")
    await wait_until(lambda: file_contains(f"{folder}/theirs", "for-both"))
    assert await harness.capture_store.list_gaps(pane) == []


async def test_a_pane_switches_to_a_pipe_without_a_gap_when_the_foreign_pipe_closes(harness, cat, folder):
    steal_pipe(harness, cat, f"{folder}/theirs")
    pane = await harness.adopt_pane(cat)
    await harness.wait_captured(cat, "control")
    await harness.type_and_wait(cat, "by-control")
    harness.tmux("pipe-pane", "-t", cat)
    await harness.wait_captured(cat, "pipe")
    await harness.type_and_wait(cat, "by-pipe")
    assert await harness.capture_store.list_end_causes(pane) == ["joined", None]
    assert await harness.capture_store.list_gaps(pane) == []


async def test_a_stolen_pipe_is_a_gap_until_control_mode_captures(harness, cat, folder):
    pane = await harness.adopt_pane(cat)
    await harness.wait_captured(cat)
    await harness.type_and_wait(cat, "before")
    steal_pipe(harness, cat, f"{folder}/theirs")
    await harness.wait_captured(cat, "control")
    await harness.type_and_wait(cat, "after")
    (gap,) = await harness.capture_store.list_gaps(pane)
    assert (gap.cause, gap.end_at is None) == ("pipe_stolen", False)
    await wait_until(lambda: file_contains(f"{folder}/theirs", "after"))


async def test_a_pane_whose_pipe_was_closed_by_others_is_not_piped_again(harness, cat):
    pane = await harness.adopt_pane(cat)
    await harness.wait_captured(cat)
    harness.tmux("pipe-pane", "-t", cat)
    await harness.wait_captured(cat, "control")
    await harness.type_and_wait(cat, "still-heard")
    assert await harness.capture_store.list_gap_causes(pane) == ["pipe_closed"]
    assert harness.tmux.read_format(cat, "#{pane_pipe}") == "0"


async def test_a_pane_whose_pipe_was_closed_by_others_is_not_piped_by_a_later_daemon(harness, cat):
    pane = await harness.adopt_pane(cat)
    await harness.capture_store.store.output.record_gap(Gap(pane=pane, cause="pipe_closed", start_at=1, end_at=2))
    await harness.captures.release_pane(cat)
    await harness.adopt_pane(cat)
    await harness.wait_captured(cat, "control")
    assert harness.tmux.read_format(cat, "#{pane_pipe}") == "0"


async def test_a_killed_recorder_is_one_gap_and_every_pane_is_piped_again(harness, cat):
    pane = await harness.adopt_pane(cat)
    await harness.wait_captured(cat)
    await harness.type_and_wait(cat, "before")
    heard_until = harness.capture_store.clock.now()
    os.kill(harness.recorder.pid, signal.SIGKILL)
    await harness.run_until(lambda: harness.get_data_plane(cat) == "none")
    assert harness.captures.describe_capture(cat) == ("none", "recorder_restart")
    await harness.recorder.start()
    await harness.wait_captured(cat)
    assert harness.captures.describe_capture(cat) == ("pipe", None)
    await harness.type_and_wait(cat, "after")
    (gap,) = await harness.capture_store.list_gaps(pane)
    assert (gap.cause, gap.end_at is None) == ("recorder_restart", False)
    assert gap.start_at < heard_until
    assert (await harness.capture_store.read_lines(pane)).count("before") == 2


async def test_a_foreign_pipe_opened_after_the_recorder_died_is_not_replaced(harness, cat, folder):
    pane = await harness.adopt_pane(cat)
    await harness.wait_captured(cat)
    os.kill(harness.recorder.pid, signal.SIGKILL)
    await harness.run_until(lambda: harness.get_data_plane(cat) == "none")
    harness.tmux("pipe-pane", "-t", cat)
    await harness.run_turn()
    steal_pipe(harness, cat, f"{folder}/theirs")
    await harness.recorder.start()
    await harness.wait_captured(cat, "control")
    await harness.type_and_wait(cat, "for-both")
    await wait_until(lambda: file_contains(f"{folder}/theirs", "for-both"))
    assert await harness.capture_store.list_gap_causes(pane) == ["recorder_restart"]


async def test_a_pane_that_is_no_longer_captured_is_an_alert_until_it_is_again(harness, cat):
    pane = await harness.adopt_pane(cat)
    await harness.wait_captured(cat)
    os.kill(harness.recorder.pid, signal.SIGKILL)
    await harness.run_until(lambda: harness.get_data_plane(cat) == "none")
    alerts = harness.capture_store.event_log.alerts
    assert alerts == {}
    harness.capture_store.clock.advance_s += 6
    await harness.run_turn()
    (alert,) = alerts.values()
    assert alert.startswith(f"pane {pane} is no longer captured (recorder_restart)")
    await harness.recorder.start()
    await harness.wait_captured(cat)
    await harness.run_turn()
    assert alerts == {}


async def test_a_recorder_without_free_descriptors_is_its_own_cause_and_alert(harness, cat):
    pane = await harness.adopt_pane(cat)
    await harness.wait_captured(cat)
    recorder = harness.recorder.pid
    before = resource.prlimit(recorder, resource.RLIMIT_NOFILE)
    # The log is opened with the first byte, for which no descriptor is left.
    resource.prlimit(recorder, resource.RLIMIT_NOFILE, (len(os.listdir(f"/proc/{recorder}/fd")), before[1]))
    harness.tmux.type_line(cat, "word")
    await harness.run_until(lambda: harness.get_data_plane(cat) == "none")
    await harness.run_turn()
    assert await harness.capture_store.list_gap_causes(pane) == ["descriptors_exhausted"]
    (alert,) = harness.capture_store.event_log.alerts.values()
    assert f"no free file descriptor for pane {pane}" in alert
    resource.prlimit(recorder, resource.RLIMIT_NOFILE, before)
    harness.capture_store.clock.advance_s += 6
    await harness.wait_captured(cat)
    await harness.type_and_wait(cat, "again")
    assert harness.capture_store.event_log.alerts == {}


async def test_a_dead_pane_is_not_piped_and_one_that_runs_again_is(harness, cat):
    harness.tmux("set", "-g", "remain-on-exit", "on")
    dead = harness.tmux.open_window("work", "exit 3")
    await wait_until(lambda: harness.tmux.read_format(dead, "#{pane_dead}") == "1")
    pane = await harness.adopt_pane(dead)
    await harness.run_turn()
    assert (harness.get_data_plane(dead), await harness.capture_store.list_epochs(pane)) == ("none", [])
    harness.tmux("respawn-pane", "-t", dead, "cat")
    await harness.captures.release_pane(dead)
    assert await harness.adopt_pane(dead, generation=1) != pane
    await harness.wait_captured(dead)
    await harness.type_and_wait(dead, "alive")
    (gap,) = await harness.capture_store.list_gaps()
    assert (gap.pane, gap.detail) == (pane, "it was closed before its capture started")


@pytest.mark.parametrize("is_killed", [False, True])
async def test_the_pipe_of_a_respawned_pane_is_replaced_and_each_program_has_its_own_text(harness, cat, is_killed):
    harness.tmux("set", "-g", "remain-on-exit", "on")
    shell = harness.tmux.open_window("work", "read line; echo last-words")
    pane = await harness.adopt_pane(shell)
    await harness.wait_captured(shell)
    harness.tmux.type_line(shell, "go")
    await wait_until(lambda: harness.tmux.read_format(shell, "#{pane_dead}") == "1")
    await harness.run_turn()
    harness.tmux("respawn-pane", *(["-k"] if is_killed else []), "-t", shell, "cat")
    await harness.captures.release_pane(shell)
    new = await harness.adopt_pane(shell, generation=1)
    await harness.wait_captured(shell)
    await harness.type_and_wait(shell, "next")
    await harness.run_until(lambda: harness.captures.is_drained)
    assert "last-words" in await harness.capture_store.read_lines(pane)
    assert "next" not in await harness.capture_store.read_lines(pane)
    assert set(await harness.capture_store.read_lines(new)) == {"next"}
    assert await harness.capture_store.list_end_causes(pane) == ["pane_exited"]
    assert await harness.capture_store.list_end_causes(new) == [None]
    assert await harness.capture_store.list_gap_causes() == ["tail_uncertain"]


async def test_the_pipe_of_another_program_is_kept_by_a_respawn_and_our_clients_do_not_count(harness, cat, folder):
    await harness.adopt_pane(cat)
    await harness.wait_captured(cat)
    steal_pipe(harness, cat, f"{folder}/theirs")
    await harness.wait_captured(cat, "control")
    assert harness.tmux.read_format(cat, "#{session_attached}") == "2"
    attached = await harness.read_facts(cat)
    assert (attached.session_attached, attached.session_clients) == (0, ())
    harness.tmux("respawn-pane", "-k", "-t", cat, "cat")
    await harness.captures.release_pane(cat)
    await harness.adopt_pane(cat, generation=1)
    await harness.wait_captured(cat, "control")
    await harness.type_and_wait(cat, "for-both")
    await wait_until(lambda: file_contains(f"{folder}/theirs", "for-both"))


async def test_a_pane_that_is_gone_ends_when_its_last_byte_was_read(harness, cat):
    shell = harness.tmux.open_window("work", "read line; echo last-words")
    pane = await harness.adopt_pane(shell)
    await harness.wait_captured(shell)
    harness.tmux.type_line(shell, "go")
    await harness.captures.release_pane(shell)
    assert not harness.captures.is_drained
    await harness.run_until(lambda: harness.captures.is_drained)
    assert "last-words" in await harness.capture_store.read_lines(pane)
    (gap,) = await harness.capture_store.list_gaps(pane)
    assert (gap.cause, gap.end_at is None) == ("tail_uncertain", False)


async def test_a_pipe_without_end_of_file_is_dropped_after_the_timeout(harness, cat):
    pane = await harness.adopt_pane(cat)
    await harness.wait_captured(cat)
    await harness.captures.release_pane(cat)
    harness.capture_store.clock.advance_s += 3
    await harness.run_until(lambda: harness.captures.is_drained)
    assert await harness.capture_store.list_end_causes(pane) == ["pane_exited"]


async def test_an_epoch_that_never_reached_the_recorder_ends(harness, cat, monkeypatch):
    monkeypatch.setattr(harness.recorder, "plan_handoff", plan_program("sleep", "1000"))
    pane = await harness.adopt_pane(cat)
    await harness.run_turn()
    await harness.captures.release_pane(cat)
    harness.capture_store.clock.advance_s += 3
    await harness.run_until(lambda: harness.captures.is_drained, turns=5)
    assert await harness.capture_store.list_end_causes(pane) == ["recorder_restart"]
    (gap,) = await harness.capture_store.list_gaps(pane)
    (epoch,) = await harness.capture_store.list_epochs(pane)
    # Nothing of it was captured, so the gap covers the whole epoch and counts.
    assert (gap.cause, gap.start_at, gap.end_at is None) == ("recorder_restart", epoch.opened_at, False)


async def test_a_pane_that_closes_before_its_capture_is_a_gap(harness, cat):
    pane = await harness.adopt_pane(cat)
    await harness.captures.release_pane(cat)
    (gap,) = await harness.capture_store.list_gaps(pane)
    assert (gap.cause, gap.end_at is None) == ("link_down", False)
    assert gap.detail == "it was closed before its capture started"


async def test_a_pipe_that_does_not_reach_the_recorder_is_a_gap_and_a_retry(harness, cat, monkeypatch):
    real = harness.recorder.plan_handoff
    monkeypatch.setattr(harness.recorder, "plan_handoff", plan_program("true"))
    pane = await harness.adopt_pane(cat)
    await harness.run_turn()
    assert harness.get_data_plane(cat) == "pipe"
    harness.capture_store.clock.advance_s += 7
    await harness.run_turn()
    (gap,) = await harness.capture_store.list_gaps(pane)
    assert (gap.cause, gap.end_at) == ("recorder_restart", None)
    assert gap.detail == "the pipe did not reach the recorder"
    monkeypatch.setattr(harness.recorder, "plan_handoff", real)
    harness.tmux.type_line(cat, "so that tmux notices")
    harness.capture_store.clock.advance_s += 7
    await harness.wait_captured(cat)
    assert [gap.end_at is None for gap in await harness.capture_store.list_gaps(pane)] == [False]


async def test_an_abandoned_pipe_is_dropped_when_it_arrives_late(harness, cat):
    pane = await harness.adopt_pane(cat)
    epoch = await harness.capture_store.epochs.reserve_epoch(pane, "pipe")
    await harness.captures._abandon_epoch(epoch)
    await harness.server.start_capture(cat, epoch, harness.sink, lines=0)
    await wait_until(lambda: RecordedStream(pane, epoch.id, 0, "open") in harness.updates)
    for item in list(harness.updates):
        await harness.captures.handle_stream_update(item)
    await wait_until(lambda: harness.recorder.streams[epoch.id].state == "ended")
    await harness.run_until(lambda: epoch.id not in harness.recorder.streams)
    await harness.wait_captured(cat, "control")
    harness.tmux.type_line(cat, "so that tmux notices")
    await harness.wait_captured(cat)
    assert await harness.capture_store.list_end_causes(pane) == ["joined", "joined", None]
    assert await harness.capture_store.list_gaps(pane) == []


async def test_an_epoch_with_an_open_stream_continues_without_a_gap(harness, cat):
    pane = await harness.adopt_pane(cat)
    await harness.wait_captured(cat)
    await harness.type_and_wait(cat, "before")
    await harness.restart()
    await harness.adopt_pane(cat)
    assert harness.is_held(cat)
    await harness.type_and_wait(cat, "after")
    assert await harness.capture_store.list_end_causes(pane) == [None]
    assert await harness.capture_store.list_gaps(pane) == []


async def test_an_open_gap_before_a_resumed_epoch_ends_at_its_start(harness, cat):
    pane = await harness.adopt_pane(cat)
    await harness.wait_captured(cat)
    (epoch,) = await harness.capture_store.list_epochs(pane)
    gap = Gap(pane=pane, cause="recorder_restart", start_at=epoch.opened_at - NS)
    await harness.capture_store.store.output.record_gap(gap)
    await harness.restart()
    await harness.adopt_pane(cat)
    (gap,) = await harness.capture_store.list_gaps(pane)
    assert (gap.before, gap.end_at) == (epoch.id, epoch.opened_at)


async def test_a_reserved_epoch_that_was_never_captured_leaves_no_gap(harness, cat):
    pane = await harness.adopt_pane(cat)
    await harness.capture_store.reserve_epoch(pane)
    await harness.restart()
    await harness.adopt_pane(cat)
    assert await harness.capture_store.list_end_causes(pane) == ["joined"]
    await harness.wait_captured(cat)
    assert await harness.capture_store.list_gaps(pane) == []


async def test_an_epoch_without_a_stream_ended_with_its_last_byte(harness, cat):
    pane = await harness.adopt_pane(cat)
    epoch = await harness.capture_store.reserve_epoch(pane)
    harness.capture_store.write_output(epoch, b"recorded\r\nunfinished")
    last_at = harness.capture_store.epochs.find_last_byte_time(epoch)
    await harness.restart()
    await harness.adopt_pane(cat)
    (gap,) = await harness.capture_store.list_gaps(pane)
    assert (gap.cause, gap.start_at, gap.end_at) == ("recorder_restart", last_at, None)
    assert await harness.capture_store.read_lines(pane) == ["recorded", "unfinished"]


async def test_a_log_truncated_without_a_daemon_is_a_gap_and_a_new_capture(harness, cat):
    pane = await harness.adopt_pane(cat)
    await harness.wait_captured(cat)
    await harness.type_and_wait(cat, "first")
    (epoch,) = await harness.capture_store.list_epochs(pane)
    (raw,) = Path(harness.capture_store.pipeline.build_folder_path(epoch)).glob("*.raw")
    os.truncate(raw, 3)
    await harness.restart()
    await harness.adopt_pane(cat)
    assert await harness.capture_store.list_gap_causes(pane) == ["log_truncated"]
    await harness.wait_captured(cat)
    await harness.type_and_wait(cat, "second")
    assert await harness.capture_store.list_end_causes(pane) == ["log_truncated", None]
    assert await harness.capture_store.list_gap_causes(pane) == ["log_truncated"]


async def test_a_log_cut_after_its_text_was_stored_lacks_bytes_without_a_gap(harness, cat):
    pane = await harness.adopt_pane(cat)
    await harness.wait_captured(cat)
    await harness.type_and_wait(cat, "first")
    (epoch,) = await harness.capture_store.list_epochs(pane)
    folder = Path(harness.capture_store.pipeline.build_folder_path(epoch))
    (raw,) = folder.glob("*.raw")
    size = raw.stat().st_size
    os.truncate(raw, 3)
    await harness.type_and_wait(cat, "second")
    assert await harness.capture_store.list_gap_causes(pane) == []
    segments = raw_log.list_segments(str(folder.parent.parent))
    assert raw_log.count_missing_bytes(segments, {}) == {pane: size - 3}


async def test_of_two_open_epochs_the_older_ends_and_the_newer_continues(harness, cat):
    """The daemon was killed while a pane switched from control mode to its pipe."""
    pane = await harness.adopt_pane(cat)
    old = await harness.capture_store.reserve_epoch(pane, "control")
    harness.capture_store.write_output(old, b"by control\r\n")
    await harness.wait_captured(cat)
    await harness.restart()
    await harness.adopt_pane(cat)
    assert harness.is_held(cat)
    assert await harness.capture_store.list_end_causes(pane) == ["link_down", None]
    (gap,) = await harness.capture_store.list_gaps(pane)
    assert (gap.cause, gap.after, gap.end_at is None) == ("link_down", old.id, False)
    assert gap.end_at >= gap.start_at


async def test_a_pipe_that_was_stolen_while_no_daemon_ran_is_a_gap_since_then(harness, cat, folder):
    pane = await harness.adopt_pane(cat)
    await harness.wait_captured(cat)
    await harness.type_and_wait(cat, "before")
    steal_pipe(harness, cat, f"{folder}/theirs")
    await wait_until(lambda: next(iter(harness.recorder.streams.values())).state == "ended")
    stolen_at = harness.capture_store.clock.now()
    await harness.restart()
    await harness.adopt_pane(cat)
    (gap,) = await harness.capture_store.list_gaps(pane)
    assert gap.cause == "pipe_stolen"
    assert gap.start_at <= stolen_at


@pytest.fixture
async def person(harness):
    """A pane in another session with an attached client and a foreign pipe."""
    mux_id = harness.tmux.start_session("theirs", "cat")
    argv = ["tmux", "-S", harness.tmux.socket, "-C", "attach-session", "-t", "=theirs", "-f", "no-output"]
    client = ControlClient(argv, on_notice=lambda notice: None)
    await client.wait_until_attached()
    harness.tmux("pipe-pane", "-t", mux_id, "exec cat > /dev/null")
    yield mux_id
    client.close()


def count_attached(harness: CaptureHarness, session: str) -> int:
    return harness.list_client_sessions().count(session)


async def test_a_session_with_destroy_unattached_gets_no_client_and_a_gap(harness, person):
    harness.tmux("set", "-t", "=theirs:", "destroy-unattached", "on")
    pane = await harness.adopt_pane(person)
    for _ in range(3):
        await harness.run_turn()
    assert (harness.get_data_plane(person), count_attached(harness, "theirs")) == ("none", 1)
    (gap,) = await harness.capture_store.list_gaps(pane)
    assert (gap.cause, gap.end_at) == ("link_down", None)
    harness.tmux("set", "-t", "=theirs:", "destroy-unattached", "off")
    await harness.wait_captured(person, "control")
    await harness.type_and_wait(person, "heard-at-last")
    assert [gap.end_at is None for gap in await harness.capture_store.list_gaps(pane)] == [False]


async def test_the_client_detaches_when_its_session_gets_destroy_unattached(harness, person):
    pane = await harness.adopt_pane(person)
    await harness.wait_captured(person, "control")
    await harness.type_and_wait(person, "heard")
    harness.tmux("set", "-t", "=theirs:", "destroy-unattached", "on")
    await harness.run_until(lambda: harness.get_data_plane(person) == "none")
    await wait_until(lambda: count_attached(harness, "theirs") == 1)
    assert [(gap.cause, gap.end_at) for gap in await harness.capture_store.list_gaps(pane)] == [("link_down", None)]
    assert int(harness.tmux("display-message", "-p", "#{pid}")) == harness.server.instance.pid
    harness.tmux("set", "-t", "=theirs:", "destroy-unattached", "off")
    await harness.wait_captured(person, "control")


async def test_the_client_detaches_when_the_server_gets_exit_unattached(harness, person):
    pane = await harness.adopt_pane(person)
    await harness.wait_captured(person, "control")
    harness.tmux("set", "-s", "exit-unattached", "on")
    await harness.run_until(lambda: harness.get_data_plane(person) == "none", turns=3)
    await wait_until(lambda: count_attached(harness, "theirs") == 1)
    assert harness.get_data_plane(person) == "none"
    assert await harness.capture_store.list_gap_causes(pane) == ["link_down"]
    harness.tmux("set", "-s", "exit-unattached", "off")
    await harness.wait_captured(person, "control")


async def test_a_server_of_unknown_version_gets_no_attached_client_and_a_gap_at_once(capture_store, tmux, cat, folder):
    plain = await CaptureHarness(capture_store, tmux).open(PlainClient("tmux", tmux.socket, lambda: None))
    steal_pipe(plain, cat, f"{folder}/theirs")
    pane = await plain.adopt_pane(cat)
    for _ in range(3):
        await plain.run_turn()
    (gap,) = await capture_store.list_gaps(pane)
    assert (gap.cause, gap.end_at, plain.get_data_plane(cat)) == ("link_down", None, "none")
    await plain.close()


async def test_a_pane_that_moves_to_another_session_is_captured_there(harness, cat, folder):
    other = harness.tmux.start_session("other", "cat")
    steal_pipe(harness, cat, f"{folder}/theirs")
    pane = await harness.adopt_pane(cat)
    await harness.wait_captured(cat, "control")
    await harness.type_and_wait(cat, "here")
    harness.tmux("join-pane", "-d", "-s", cat, "-t", other)
    await harness.run_until(lambda: count_attached(harness, "other") and harness.get_data_plane(cat) == "control")
    await harness.type_and_wait(cat, "there")
    (gap,) = await harness.capture_store.list_gaps(pane)
    assert (gap.cause, gap.end_at is None) == ("link_down", False)
    await wait_until(lambda: (count_attached(harness, "other"), count_attached(harness, "work")) == (2, 0))


async def test_a_detached_capture_client_is_a_gap_and_is_restarted(harness, cat, folder):
    steal_pipe(harness, cat, f"{folder}/theirs")
    pane = await harness.adopt_pane(cat)
    await harness.wait_captured(cat, "control")
    harness.tmux("detach-client", "-s", "=work")
    await harness.run_until(lambda: harness.get_data_plane(cat) == "none")
    harness.capture_store.clock.advance_s += 1
    await harness.wait_captured(cat, "control")
    await harness.type_and_wait(cat, "back")
    assert await harness.capture_store.list_gap_causes(pane) == ["link_down"]


async def test_output_missed_by_a_paused_client_is_a_gap(harness, cat, folder):
    steal_pipe(harness, cat, f"{folder}/theirs")
    pane = await harness.adopt_pane(cat)
    await harness.wait_captured(cat, "control")
    await harness.type_and_wait(cat, "before")
    heard_until = harness.capture_store.clock.now()
    epoch = harness.captures.find_pane(cat).epoch
    harness.news.append(CaptureLost(epoch.id, "client_paused", is_failure=False))
    await harness.run_turn()
    await harness.type_and_wait(cat, "goes-on")
    (gap,) = await harness.capture_store.list_gaps(pane)
    # What the client did not receive before it was paused is missing too.
    assert (gap.cause, gap.start_at < heard_until) == ("client_paused", True)
    assert await harness.capture_store.list_end_causes(pane) == ["client_paused", None]


async def test_a_full_disk_ends_a_control_mode_capture(harness, cat, folder):
    steal_pipe(harness, cat, f"{folder}/theirs")
    pane = await harness.adopt_pane(cat)
    await harness.wait_captured(cat, "control")
    harness.news.append(CaptureLost(harness.captures.find_pane(cat).epoch.id, "disk_full"))
    await harness.run_turn()
    assert harness.get_data_plane(cat) == "none"
    assert await harness.capture_store.list_gap_causes(pane) == ["disk_full"]


async def test_stopping_closes_termvisor_pipes_and_keeps_foreign_ones(harness, cat, folder):
    other = harness.tmux.open_window("work", "cat")
    steal_pipe(harness, other, f"{folder}/theirs")
    captured, foreign = await harness.adopt_pane(cat), await harness.adopt_pane(other)
    await harness.wait_captured(cat)
    await harness.wait_captured(other, "control")
    await harness.captures.stop(keep_pipes=False)
    await harness.run_until(lambda: harness.captures.is_drained)
    assert (harness.tmux.read_format(cat, "#{pane_pipe}"), harness.tmux.read_format(other, "#{pane_pipe}")) == (
        "0",
        "1",
    )
    assert await harness.capture_store.list_end_causes(captured) == ["stopped"]
    assert await harness.capture_store.list_gap_causes(captured) == ["recorder_restart"]
    assert await harness.capture_store.list_end_causes(foreign) == ["link_down"]
    assert [gap.end_at for gap in await harness.capture_store.list_gaps()] == [None, None]
    await wait_until(lambda: harness.list_client_sessions() == [])


async def test_a_pipe_stolen_just_before_the_stop_is_not_closed(harness, cat, folder):
    await harness.adopt_pane(cat)
    await harness.wait_captured(cat)
    steal_pipe(harness, cat, f"{folder}/theirs")
    await wait_until(lambda: next(iter(harness.recorder.streams.values())).state == "ended")
    await harness.captures.stop(keep_pipes=False)
    assert harness.tmux.read_format(cat, "#{pane_pipe}") == "1"


async def test_stopping_for_a_later_daemon_keeps_the_pipes_and_the_epochs(harness, cat):
    pane = await harness.adopt_pane(cat)
    await harness.wait_captured(cat)
    await harness.captures.stop(keep_pipes=True)
    assert harness.tmux.read_format(cat, "#{pane_pipe}") == "1"
    assert await harness.capture_store.list_end_causes(pane) == [None]


async def test_when_the_server_is_gone_every_pane_ends_with_one_gap(harness, cat):
    pane = await harness.adopt_pane(cat)
    await harness.wait_captured(cat)
    await harness.type_and_wait(cat, "last")
    harness.tmux.kill_server()
    await wait_until(lambda: not harness.is_server_alive())
    await harness.captures.release_all("server_gone")
    while harness.updates or not harness.captures.is_drained:
        await harness.deliver_updates()
        await harness.captures.run_step()
    (gap,) = await harness.capture_store.list_gaps(pane)
    assert (gap.cause, gap.end_at is None) == ("server_gone", False)


async def test_a_capture_client_that_keeps_exiting_is_held_down_and_retried(harness, cat, folder):
    harness.tmux("pipe-pane", "-O", "-t", cat, f"cat >> {folder}/theirs")
    pane = await harness.adopt_pane(cat)
    for _ in range(5):
        await harness.wait_captured(cat, "control")
        clients = next(iter(harness.control_capture._clients_by_session.values()))
        os.kill(clients.output.pid, signal.SIGKILL)
        await harness.run_until(lambda: harness.get_data_plane(cat) == "none")
        harness.capture_store.clock.advance_s += 40
    alerts = harness.capture_store.event_log.alerts
    assert f"capturing pane {pane} keeps failing" in alerts[f"panes:{harness.tmux.socket}"]
    await harness.run_turn()
    assert harness.get_data_plane(cat) == "none"
    assert harness.forks.count == 10
    harness.capture_store.clock.advance_s += 261
    await harness.wait_captured(cat, "control")
    await harness.run_turn()
    assert alerts == {}
    assert (await harness.capture_store.list_event_kinds()).count("alert") == 1


async def test_a_pane_resized_without_a_daemon_is_decoded_at_its_new_size(harness, cat):
    pane = await harness.adopt_pane(cat)
    await harness.wait_captured(cat)
    harness.tmux("resize-window", "-t", cat, "-x", "31", "-y", "9")
    await harness.restart()
    await harness.adopt_pane(cat)
    await harness.type_and_wait(cat, "x" * 40)
    reader = harness.capture_store.pipeline.current_readers[pane]
    assert reader.text.size == (31, 9)
