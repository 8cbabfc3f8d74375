"""How the panes of a real server are heard by a real recorder, and what is said when they are not."""

import os
import signal
from pathlib import Path

import pytest

from termvisor.backends.tmux.client import ControlClient, PlainClient
from termvisor.backends.tmux.control_mode import Notice
from termvisor.capture.control_mode_capture import UNWRITABLE
from termvisor.capture.recorder_client import Held
from termvisor.clock import NS
from termvisor.model.terminal.output import Gap
from tests.unit.capture.scene import Listening
from tests.unit.waiting import until


def steal(ears: Listening, mux_id: str, path: str) -> None:
    ears.tmux("pipe-pane", "-t", mux_id, f"exec cat >> {path}")


def holds(path: str, word: str) -> bool:
    return os.path.exists(path) and word in Path(path).read_text()


async def test_a_pane_is_heard_through_its_pipe(ears, cat):
    pane = await ears.adopt(cat)
    await ears.heard(cat)
    await ears.say(cat, "hello")
    assert ears.tmux.ask(cat, "#{pane_pipe}") == "1"
    assert await ears.memory.gaps() == []
    assert await ears.memory.ends(pane) == [None]


async def test_many_panes_are_opened_a_few_at_a_time(ears, cat):
    panes = [cat, *(ears.tmux.window("work", "cat") for _ in range(11))]
    for mux_id in panes:
        await ears.adopt(mux_id)
    await ears.ears.step()
    assert sum(ears.plane(mux_id) == "pipe" for mux_id in panes) == 8
    await ears.until(lambda: all(ears.is_held(mux_id) for mux_id in panes))


async def test_a_pipe_that_was_there_first_is_never_touched_and_the_pane_is_heard_by_control(ears, cat, folder):
    steal(ears, cat, f"{folder}/theirs")
    pane = await ears.adopt(cat)
    await ears.heard(cat, "control")
    await ears.say(cat, "for-both")
    await until(lambda: holds(f"{folder}/theirs", "for-both"))
    assert await ears.memory.gaps(pane) == []


async def test_when_its_owner_closes_it_the_pane_goes_over_to_our_pipe_without_a_gap(ears, cat, folder):
    steal(ears, cat, f"{folder}/theirs")
    pane = await ears.adopt(cat)
    await ears.heard(cat, "control")
    await ears.say(cat, "by-control")
    ears.tmux("pipe-pane", "-t", cat)
    await ears.heard(cat, "pipe")
    await ears.say(cat, "by-pipe")
    assert await ears.memory.ends(pane) == ["joined", None]
    assert await ears.memory.gaps(pane) == []


async def test_a_stolen_pipe_is_a_gap_that_ends_when_the_pane_is_heard_another_way(ears, cat, folder):
    pane = await ears.adopt(cat)
    await ears.heard(cat)
    await ears.say(cat, "before")
    steal(ears, cat, f"{folder}/theirs")
    await ears.heard(cat, "control")
    await ears.say(cat, "after")
    (gap,) = await ears.memory.gaps(pane)
    assert (gap.cause, gap.end_at is None) == ("pipe_stolen", False)
    await until(lambda: holds(f"{folder}/theirs", "after"))


async def test_a_pane_whose_pipe_somebody_closed_is_not_piped_again(ears, cat):
    pane = await ears.adopt(cat)
    await ears.heard(cat)
    ears.tmux("pipe-pane", "-t", cat)
    await ears.heard(cat, "control")
    await ears.say(cat, "still-heard")
    assert await ears.memory.causes(pane) == ["pipe_closed"]
    assert ears.tmux.ask(cat, "#{pane_pipe}") == "0"


async def test_nor_by_a_later_daemon(ears, cat):
    pane = await ears.adopt(cat)
    await ears.memory.store.output.record_gap(Gap(pane=pane, cause="pipe_closed", start_at=1, end_at=2))
    await ears.ears.leave(cat)
    await ears.adopt(cat)
    await ears.heard(cat, "control")
    assert ears.tmux.ask(cat, "#{pane_pipe}") == "0"


async def test_a_killed_recorder_is_one_gap_and_every_pane_is_piped_again(ears, cat):
    pane = await ears.adopt(cat)
    await ears.heard(cat)
    await ears.say(cat, "before")
    os.kill(ears.recorder.pid, signal.SIGKILL)
    await ears.until(lambda: ears.plane(cat) == "none")
    await ears.recorder.start()
    await ears.heard(cat)
    await ears.say(cat, "after")
    (gap,) = await ears.memory.gaps(pane)
    assert (gap.cause, gap.end_at is None) == ("recorder_restart", False)
    assert (await ears.memory.lines(pane)).count("before") == 2


async def test_a_pipe_that_came_after_ours_died_is_not_taken_for_ours(ears, cat, folder):
    pane = await ears.adopt(cat)
    await ears.heard(cat)
    os.kill(ears.recorder.pid, signal.SIGKILL)
    await ears.until(lambda: ears.plane(cat) == "none")
    ears.tmux("pipe-pane", "-t", cat)
    await ears.turn()
    steal(ears, cat, f"{folder}/theirs")
    await ears.recorder.start()
    await ears.heard(cat, "control")
    await ears.say(cat, "for-both")
    await until(lambda: holds(f"{folder}/theirs", "for-both"))
    assert await ears.memory.causes(pane) == ["recorder_restart"]


async def test_a_dead_pane_is_not_piped_and_one_that_runs_again_is(ears, cat):
    ears.tmux("set", "-g", "remain-on-exit", "on")
    dead = ears.tmux.window("work", "exit 3")
    await until(lambda: ears.tmux.ask(dead, "#{pane_dead}") == "1")
    pane = await ears.adopt(dead)
    await ears.turn()
    assert (ears.plane(dead), await ears.memory.epochs_of(pane)) == ("none", [])
    ears.tmux("respawn-pane", "-t", dead, "cat")
    await ears.heard(dead)
    await ears.say(dead, "alive")
    assert await ears.memory.gaps(pane) == []


async def test_a_pane_that_stays_when_its_program_exits_keeps_its_pipe_for_the_next_one(ears, cat):
    ears.tmux("set", "-g", "remain-on-exit", "on")
    shell = ears.tmux.window("work", "read line; echo last-words")
    pane = await ears.adopt(shell)
    await ears.heard(shell)
    ears.tmux.type(shell, "go")
    await until(lambda: ears.tmux.ask(shell, "#{pane_dead}") == "1")
    await ears.turn()
    ears.tmux("respawn-pane", "-t", shell, "cat")
    await ears.say(shell, "next")
    assert "last-words" in await ears.memory.lines(pane)
    assert await ears.memory.ends(pane) == [None]
    assert await ears.memory.gaps(pane) == []


async def test_a_pane_that_is_gone_ends_when_its_last_byte_was_read(ears, cat):
    shell = ears.tmux.window("work", "read line; echo last-words")
    pane = await ears.adopt(shell)
    await ears.heard(shell)
    ears.tmux.type(shell, "go")
    await ears.ears.leave(shell)
    assert not ears.ears.is_quiet
    await ears.until(lambda: ears.ears.is_quiet)
    assert "last-words" in await ears.memory.lines(pane)
    (gap,) = await ears.memory.gaps(pane)
    assert (gap.cause, gap.end_at is None) == ("tail_uncertain", False)


async def test_a_pipe_whose_end_does_not_come_is_closed_by_us(ears, cat):
    pane = await ears.adopt(cat)
    await ears.heard(cat)
    await ears.ears.leave(cat)
    ears.memory.clock.ahead += 3
    await ears.until(lambda: ears.ears.is_quiet)
    assert await ears.memory.ends(pane) == ["pane_exited"]


async def test_what_never_reached_the_recorder_ends_too(ears, cat, monkeypatch):
    monkeypatch.setattr(ears.recorder, "handoff_command", lambda pane, epoch: "exec sleep 1000")
    pane = await ears.adopt(cat)
    await ears.turn()
    await ears.ears.leave(cat)
    ears.memory.clock.ahead += 3
    await ears.until(lambda: ears.ears.is_quiet, turns=5)
    assert await ears.memory.ends(pane) == ["pane_exited"]


async def test_a_helper_that_does_not_reach_the_recorder_is_a_gap_and_another_try(ears, cat, monkeypatch):
    real = ears.recorder.handoff_command
    monkeypatch.setattr(ears.recorder, "handoff_command", lambda pane, epoch: "exec true")
    pane = await ears.adopt(cat)
    await ears.turn()
    assert ears.plane(cat) == "pipe"
    ears.memory.clock.ahead += 7
    await ears.turn()
    (gap,) = await ears.memory.gaps(pane)
    assert (gap.cause, gap.end_at) == ("recorder_restart", None)
    assert "helper" in gap.detail
    monkeypatch.setattr(ears.recorder, "handoff_command", real)
    ears.tmux.type(cat, "so that tmux notices")
    ears.memory.clock.ahead += 7
    await ears.heard(cat)
    assert [gap.end_at is None for gap in await ears.memory.gaps(pane)] == [False]


async def test_a_pipe_that_was_given_up_is_closed_when_it_comes_after_all(ears, cat):
    pane = await ears.adopt(cat)
    epoch = await ears.memory.epochs.reserve(pane, "pipe")
    await ears.ears._give_up(epoch)
    await ears.server.open_pipe(cat, ears.recorder.handoff_command(pane, epoch.id), lines=0)
    await until(lambda: Held(epoch.id) in ears.news)
    for item in list(ears.news):
        await ears.ears.news(item)
    await until(lambda: ears.recorder.streams[epoch.id].state == "ended")
    await ears.until(lambda: epoch.id not in ears.recorder.streams)
    await ears.heard(cat, "control")
    ears.tmux.type(cat, "so that tmux notices")
    await ears.heard(cat)
    assert await ears.memory.ends(pane) == ["joined", "joined", None]
    assert await ears.memory.gaps(pane) == []


async def test_an_epoch_that_the_recorder_still_holds_goes_on_without_a_gap(ears, cat):
    pane = await ears.adopt(cat)
    await ears.heard(cat)
    await ears.say(cat, "before")
    await ears.again()
    await ears.adopt(cat)
    assert ears.is_held(cat)
    await ears.say(cat, "after")
    assert await ears.memory.ends(pane) == [None]
    assert await ears.memory.gaps(pane) == []


async def test_a_gap_that_was_left_open_before_it_ends_where_it_began(ears, cat):
    pane = await ears.adopt(cat)
    await ears.heard(cat)
    (epoch,) = await ears.memory.epochs_of(pane)
    gap = Gap(pane=pane, cause="recorder_restart", start_at=epoch.opened_at - NS)
    await ears.memory.store.output.record_gap(gap)
    await ears.again()
    await ears.adopt(cat)
    (gap,) = await ears.memory.gaps(pane)
    assert (gap.before, gap.end_at) == (epoch.id, epoch.opened_at)


async def test_an_epoch_that_was_reserved_and_never_heard_leaves_no_gap(ears, cat):
    pane = await ears.adopt(cat)
    await ears.memory.reserved(pane)
    await ears.again()
    await ears.adopt(cat)
    assert await ears.memory.ends(pane) == ["joined"]
    await ears.heard(cat)
    assert await ears.memory.gaps(pane) == []


async def test_an_epoch_that_nobody_recorded_any_more_ended_with_its_last_byte(ears, cat):
    pane = await ears.adopt(cat)
    epoch = await ears.memory.reserved(pane)
    ears.memory.write(epoch, b"recorded\r\nunfinished")
    last_at = ears.memory.epochs.last_at(epoch)
    await ears.again()
    await ears.adopt(cat)
    (gap,) = await ears.memory.gaps(pane)
    assert (gap.cause, gap.start_at, gap.end_at) == ("recorder_restart", last_at, None)
    assert await ears.memory.lines(pane) == ["recorded", "unfinished"]


async def test_a_log_that_was_cut_while_no_daemon_ran_is_a_gap_and_the_pane_is_heard_anew(ears, cat):
    pane = await ears.adopt(cat)
    await ears.heard(cat)
    await ears.say(cat, "first")
    (epoch,) = await ears.memory.epochs_of(pane)
    (raw,) = Path(ears.memory.pipeline.folder(epoch)).glob("*.raw")
    os.truncate(raw, 3)
    await ears.again()
    await ears.adopt(cat)
    assert await ears.memory.causes(pane) == ["log_truncated"]
    await ears.heard(cat)
    await ears.say(cat, "second")
    assert await ears.memory.ends(pane) == ["log_truncated", None]
    assert await ears.memory.causes(pane) == ["log_truncated"]


async def test_of_two_epochs_that_were_left_open_the_older_ends_and_the_newer_goes_on(ears, cat):
    """The daemon was killed while a pane went over from control to its pipe."""
    pane = await ears.adopt(cat)
    old = await ears.memory.reserved(pane, "control")
    ears.memory.write(old, b"by control\r\n")
    await ears.heard(cat)
    await ears.again()
    await ears.adopt(cat)
    assert ears.is_held(cat)
    assert await ears.memory.ends(pane) == ["link_down", None]
    (gap,) = await ears.memory.gaps(pane)
    assert (gap.cause, gap.after, gap.end_at is None) == ("link_down", old.id, False)
    assert gap.end_at >= gap.start_at


async def test_a_pipe_that_was_stolen_while_no_daemon_ran_is_a_gap_since_then(ears, cat, folder):
    pane = await ears.adopt(cat)
    await ears.heard(cat)
    await ears.say(cat, "before")
    steal(ears, cat, f"{folder}/theirs")
    await until(lambda: next(iter(ears.recorder.streams.values())).state == "ended")
    stolen_at = ears.memory.clock.now()
    await ears.again()
    await ears.adopt(cat)
    (gap,) = await ears.memory.gaps(pane)
    assert gap.cause == "pipe_stolen"
    assert gap.start_at <= stolen_at


@pytest.fixture
async def person(ears):
    """Somebody who is attached to a session of their own, in which the pane's pipe is theirs too."""
    mux_id = ears.tmux.start("theirs", "cat")
    argv = ["tmux", "-S", ears.tmux.socket, "-C", "attach-session", "-t", "=theirs", "-f", "no-output"]
    client = ControlClient(argv, notice=lambda notice: None)
    await client.attached()
    ears.tmux("pipe-pane", "-t", mux_id, "exec cat > /dev/null")
    yield mux_id
    client.close()


def attached(ears: Listening, session: str) -> int:
    return ears.clients().count(session)


async def test_a_session_that_ends_unattached_gets_no_client_of_ours_and_what_is_missed_is_said(ears, person):
    ears.tmux("set", "-t", "=theirs:", "destroy-unattached", "on")
    pane = await ears.adopt(person)
    for _ in range(3):
        await ears.turn()
    assert (ears.plane(person), attached(ears, "theirs")) == ("none", 1)
    (gap,) = await ears.memory.gaps(pane)
    assert (gap.cause, gap.end_at) == ("link_down", None)
    ears.tmux("set", "-t", "=theirs:", "destroy-unattached", "off")
    await ears.heard(person, "control")
    await ears.say(person, "heard-at-last")
    assert [gap.end_at is None for gap in await ears.memory.gaps(pane)] == [False]


async def test_our_client_leaves_when_its_session_comes_to_end_unattached_and_the_server_lives_on(ears, person):
    pane = await ears.adopt(person)
    await ears.heard(person, "control")
    await ears.say(person, "heard")
    ears.tmux("set", "-t", "=theirs:", "destroy-unattached", "on")
    await ears.until(lambda: ears.plane(person) == "none")
    await until(lambda: attached(ears, "theirs") == 1)
    assert [(gap.cause, gap.end_at) for gap in await ears.memory.gaps(pane)] == [("link_down", None)]
    assert int(ears.tmux("display-message", "-p", "#{pid}")) == ears.server.instance.pid
    ears.tmux("set", "-t", "=theirs:", "destroy-unattached", "off")
    await ears.heard(person, "control")


async def test_our_client_leaves_when_the_server_comes_to_end_unattached(ears, person):
    pane = await ears.adopt(person)
    await ears.heard(person, "control")
    ears.server.exits_unattached = True
    await ears.turn()
    assert (ears.plane(person), attached(ears, "theirs")) == ("none", 1)
    assert await ears.memory.causes(pane) == ["link_down"]
    ears.server.exits_unattached = False
    await ears.heard(person, "control")


async def test_without_a_control_client_a_foreign_pipe_is_a_gap_from_the_first_moment(memory, tmux, cat, folder):
    plain = await Listening(memory, tmux).open(PlainClient("tmux", tmux.socket, lambda: None))
    steal(plain, cat, f"{folder}/theirs")
    pane = await plain.adopt(cat)
    for _ in range(3):
        await plain.turn()
    (gap,) = await memory.gaps(pane)
    assert (gap.cause, gap.end_at, plain.plane(cat)) == ("link_down", None, "none")
    await plain.close()


async def test_a_pane_that_moves_to_another_session_is_heard_there(ears, cat, folder):
    other = ears.tmux.start("other", "cat")
    steal(ears, cat, f"{folder}/theirs")
    pane = await ears.adopt(cat)
    await ears.heard(cat, "control")
    await ears.say(cat, "here")
    ears.tmux("join-pane", "-d", "-s", cat, "-t", other)
    await ears.until(lambda: attached(ears, "other") and ears.plane(cat) == "control")
    await ears.say(cat, "there")
    (gap,) = await ears.memory.gaps(pane)
    assert (gap.cause, gap.end_at is None) == ("link_down", False)
    assert (attached(ears, "other"), attached(ears, "work")) == (1, 0)


async def test_a_client_that_is_thrown_out_is_a_gap_and_comes_back(ears, cat, folder):
    steal(ears, cat, f"{folder}/theirs")
    pane = await ears.adopt(cat)
    await ears.heard(cat, "control")
    ears.tmux("detach-client", "-s", "=work")
    await ears.until(lambda: ears.plane(cat) == "none")
    ears.memory.clock.ahead += 1
    await ears.heard(cat, "control")
    await ears.say(cat, "back")
    assert await ears.memory.causes(pane) == ["link_down"]


async def test_what_a_paused_client_did_not_hear_is_a_gap(ears, cat, folder):
    steal(ears, cat, f"{folder}/theirs")
    pane = await ears.adopt(cat)
    await ears.heard(cat, "control")
    session_id = ears.ears.of(cat).session_id
    ears.notices.append((session_id, Notice("pause", (cat,))))
    await ears.turn()
    await ears.say(cat, "goes-on")
    assert await ears.memory.causes(pane) == ["client_paused"]
    assert await ears.memory.ends(pane) == ["client_paused", None]


async def test_a_full_disk_ends_what_control_hears(ears, cat, folder):
    steal(ears, cat, f"{folder}/theirs")
    pane = await ears.adopt(cat)
    await ears.heard(cat, "control")
    ears.notices.append((ears.ears.of(cat).session_id, Notice(UNWRITABLE, (cat,))))
    await ears.turn()
    assert ears.plane(cat) == "none"
    assert await ears.memory.causes(pane) == ["disk_full"]


async def test_stopping_closes_our_pipes_and_leaves_theirs(ears, cat, folder):
    other = ears.tmux.window("work", "cat")
    steal(ears, other, f"{folder}/theirs")
    ours, theirs = await ears.adopt(cat), await ears.adopt(other)
    await ears.heard(cat)
    await ears.heard(other, "control")
    await ears.ears.stop(keep_pipes=False)
    await ears.until(lambda: ears.ears.is_quiet)
    assert (ears.tmux.ask(cat, "#{pane_pipe}"), ears.tmux.ask(other, "#{pane_pipe}")) == ("0", "1")
    assert await ears.memory.ends(ours) == ["stopped"]
    assert await ears.memory.causes(ours) == ["recorder_restart"]
    assert await ears.memory.ends(theirs) == ["link_down"]
    assert [gap.end_at for gap in await ears.memory.gaps()] == [None, None]
    assert ears.clients() == ["_visor"]


async def test_a_pipe_that_was_stolen_just_before_we_stop_is_not_closed(ears, cat, folder):
    await ears.adopt(cat)
    await ears.heard(cat)
    steal(ears, cat, f"{folder}/theirs")
    await until(lambda: next(iter(ears.recorder.streams.values())).state == "ended")
    await ears.ears.stop(keep_pipes=False)
    assert ears.tmux.ask(cat, "#{pane_pipe}") == "1"


async def test_stopping_for_a_later_daemon_keeps_the_pipes_and_the_epochs(ears, cat):
    pane = await ears.adopt(cat)
    await ears.heard(cat)
    await ears.ears.stop(keep_pipes=True)
    assert ears.tmux.ask(cat, "#{pane_pipe}") == "1"
    assert await ears.memory.ends(pane) == [None]


async def test_when_the_server_is_gone_every_pane_ends_with_one_gap(ears, cat):
    pane = await ears.adopt(cat)
    await ears.heard(cat)
    await ears.say(cat, "last")
    ears.tmux.kill()
    await until(lambda: not ears.ears.is_server_alive)
    await ears.ears.leave_all("server_gone")
    while ears.news or not ears.ears.is_quiet:
        await ears.deliver()
        await ears.ears.step()
    (gap,) = await ears.memory.gaps(pane)
    assert (gap.cause, gap.end_at is None) == ("server_gone", False)


async def test_an_output_client_that_keeps_ending_is_held_down_told_and_taken_up_again(ears, cat, folder):
    ears.tmux("pipe-pane", "-O", "-t", cat, f"cat >> {folder}/theirs")
    pane = await ears.adopt(cat)
    for _ in range(5):
        await ears.heard(cat, "control")
        (client, _) = next(iter(ears.outputs._clients.values()))
        os.kill(client.pid, signal.SIGKILL)
        await ears.until(lambda: ears.plane(cat) == "none")
        ears.memory.clock.ahead += 40
    alerts = ears.memory.chronicle.alerts
    assert f"listening to pane {pane} keeps failing" in alerts[f"panes:{ears.tmux.socket}"]
    await ears.turn()
    assert ears.plane(cat) == "none"
    assert len(ears.forks) == 5
    ears.memory.clock.ahead += 261
    await ears.heard(cat, "control")
    await ears.turn()
    assert alerts == {}
    assert (await ears.memory.events()).count("alert") == 1
