"""What could not be captured is one recorded Gap with its cause, and everything around it is exact."""

import os
import signal
from pathlib import Path

import pytest

from tests.live.waiting import until


@pytest.fixture
def pane(tmux, visor):
    """A shell that is being heard; tmux's id and ours."""
    mux_id = tmux.start(command="sh")
    ours = until(lambda: heard_by(visor, "pipe"))
    return mux_id, ours


def heard_by(visor, plane):
    items = [item for item in visor.robot("state")["items"] if item["heard_by"] == plane]
    return items[0]["identity"]["id"] if items else None


def say(tmux, visor, pane, word):
    """Have the pane print a word and wait until it can be read back."""
    mux_id, ours = pane
    tmux.type(mux_id, f"echo {word[:3]}''{word[3:]}")
    visor.robot("wait-for", str(ours), f"^{word}$", "--regex", "--timeout-secs", "20")


def causes(visor):
    return [gap["cause"] for gap in visor.robot("list-gaps")["items"]]


def words(visor, pane):
    return visor.robot("get-text", str(pane[1]), "--tail", "500")["text"].split("\n")


def test_a_killed_recorder_is_one_gap_and_the_pane_is_heard_again(tmux, visor, pane):
    say(tmux, visor, pane, "before-the-kill")
    os.kill(visor.recorder_pid, signal.SIGKILL)
    until(lambda: causes(visor) == ["recorder_restart"])
    until(lambda: heard_by(visor, "pipe"))
    say(tmux, visor, pane, "after-the-kill")
    text = words(visor, pane)
    assert text.count("before-the-kill") == 1
    assert text.count("after-the-kill") == 1
    assert causes(visor) == ["recorder_restart"]
    (gap,) = visor.robot("list-gaps")["items"]
    assert gap["end_at"] is not None


def test_a_stolen_pipe_is_left_to_its_owner_and_the_pane_is_heard_another_way(folder, tmux, visor, pane):
    say(tmux, visor, pane, "before-the-theft")
    tmux("pipe-pane", "-t", pane[0], f"cat >> {folder}/theirs")
    until(lambda: heard_by(visor, "control"))
    say(tmux, visor, pane, "after-the-theft")
    assert causes(visor) == ["pipe_stolen"]
    assert tmux.ask(pane[0], "#{pane_pipe}") == "1"
    until(lambda: "after-the-theft" in Path(folder, "theirs").read_text())
    assert words(visor, pane).count("after-the-theft") == 1


def test_a_toggled_pipe_works_for_the_person_who_toggles_it(folder, tmux, visor, pane):
    toggle = ("pipe-pane", "-o", "-t", pane[0], f"cat >> {folder}/theirs")
    tmux(*toggle)
    until(lambda: heard_by(visor, "control"))
    assert causes(visor) == ["pipe_closed"]
    tmux(*toggle)
    assert tmux.ask(pane[0], "#{pane_pipe}") == "1"
    say(tmux, visor, pane, "in-their-log")
    until(lambda: "in-their-log" in Path(folder, "theirs").read_text())
    tmux(*toggle)
    assert tmux.ask(pane[0], "#{pane_pipe}") == "0"
    say(tmux, visor, pane, "still-heard-by-us")
    assert causes(visor) == ["pipe_closed"]


def test_a_killed_server_is_one_gap_a_pane_and_a_new_server_starts_anew(tmux, visor, pane):
    say(tmux, visor, pane, "last-words")
    tmux.kill()
    until(lambda: causes(visor) == ["server_gone"])
    until(lambda: visor.robot("state")["items"] == [])
    assert "last-words" in words(visor, pane)
    tmux.start(command="sh")
    new = until(lambda: heard_by(visor, "pipe"))
    assert new != pane[1]
    assert causes(visor) == ["server_gone"]


def test_a_program_that_exits_leaves_its_words_and_an_uncertain_tail(tmux, visor, pane):
    mux_id = tmux.window("work", "echo short-life; sleep 3")
    ours = until(lambda: next((i["identity"]["id"] for i in visor.robot("state")["items"] if i["identity"]["pane_id"] == mux_id), None))
    until(lambda: causes(visor) == ["tail_uncertain"])
    assert "short-life" in visor.robot("get-text", str(ours))["text"]


def test_a_stop_and_a_later_start_leave_a_gap_between_them(tmux, visor, pane):
    say(tmux, visor, pane, "before-the-stop")
    visor.visor("down")
    assert tmux.ask(pane[0], "#{pane_pipe}") == "0"
    until(lambda: heard_by(visor, "pipe"))
    assert causes(visor) == ["recorder_restart"]
    say(tmux, visor, pane, "after-the-stop")
    assert words(visor, pane).count("before-the-stop") == 1


def test_after_both_were_killed_a_pane_is_heard_and_comes_back_to_its_pipe_without_a_second_gap(tmux, visor, pane):
    say(tmux, visor, pane, "before-the-kills")
    recorder, daemon = visor.recorder_pid, visor.daemon_pid
    os.kill(daemon, signal.SIGKILL)
    os.kill(recorder, signal.SIGKILL)
    until(lambda: heard_by(visor, "pipe") or heard_by(visor, "control"))
    for number in range(30):
        say(tmux, visor, pane, f"word-{number}-after")
    until(lambda: heard_by(visor, "pipe"))
    assert causes(visor) == ["recorder_restart"]
    assert [line for line in words(visor, pane) if line.startswith("word-")] == [f"word-{n}-after" for n in range(30)]


def test_killing_the_daemon_loses_nothing(tmux, visor, pane):
    say(tmux, visor, pane, "before-the-kill")
    visor.kill_daemon()
    tmux.type(pane[0], "echo while''-dead")
    say(tmux, visor, pane, "after-the-kill")
    assert [line for line in words(visor, pane) if line in ("before-the-kill", "while-dead", "after-the-kill")] == [
        "before-the-kill",
        "while-dead",
        "after-the-kill",
    ]
    assert causes(visor) == []
