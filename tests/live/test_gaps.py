"""What could not be captured is one recorded Gap with its cause, and everything around it is exact."""

import os
import signal
from pathlib import Path

from tests.live.waiting import until


def test_a_killed_recorder_is_one_gap_and_the_pane_is_heard_again(scene, shell):
    scene.say(shell, "before-the-kill")
    os.kill(scene.visor.recorder_pid, signal.SIGKILL)
    until(lambda: scene.causes() == ["recorder_restart"])
    scene.heard(shell)
    scene.say(shell, "after-the-kill")
    text = scene.lines(shell)
    assert text.count("before-the-kill") == 1
    assert text.count("after-the-kill") == 1
    assert scene.causes() == ["recorder_restart"]
    (gap,) = scene.visor.robot("list-gaps")["items"]
    assert gap["end_at"] is not None


def test_a_stolen_pipe_is_left_to_its_owner_and_the_pane_is_heard_another_way(folder, scene, shell):
    scene.say(shell, "before-the-theft")
    scene.tmux("pipe-pane", "-t", shell, f"cat >> {folder}/theirs")
    scene.heard(shell, "control")
    scene.say(shell, "after-the-theft")
    assert scene.causes() == ["pipe_stolen"]
    assert scene.tmux.ask(shell, "#{pane_pipe}") == "1"
    until(lambda: "after-the-theft" in Path(folder, "theirs").read_text())
    assert scene.lines(shell).count("after-the-theft") == 1


def test_a_toggled_pipe_works_for_the_person_who_toggles_it(folder, scene, shell):
    toggle = ("pipe-pane", "-o", "-t", shell, f"cat >> {folder}/theirs")
    scene.tmux(*toggle)
    scene.heard(shell, "control")
    assert scene.causes() == ["pipe_closed"]
    scene.tmux(*toggle)
    assert scene.tmux.ask(shell, "#{pane_pipe}") == "1"
    scene.say(shell, "in-their-log")
    until(lambda: "in-their-log" in Path(folder, "theirs").read_text())
    scene.tmux(*toggle)
    assert scene.tmux.ask(shell, "#{pane_pipe}") == "0"
    scene.say(shell, "still-heard-by-us")
    assert scene.causes() == ["pipe_closed"]


def test_a_killed_server_is_one_gap_a_pane_and_a_new_server_starts_anew(scene, shell):
    scene.say(shell, "last-words")
    old = scene.id_of(shell)
    scene.tmux.kill()
    until(lambda: scene.causes() == ["server_gone"])
    until(lambda: scene.panes() == [])
    assert "last-words" in scene.visor.robot("get-text", str(old))["text"]
    assert scene.heard(scene.tmux.start(command="sh")) != old
    assert scene.causes() == ["server_gone"]


def test_a_program_that_exits_leaves_its_words_and_an_uncertain_tail(scene, shell):
    ours = scene.heard(scene.tmux.window("work", "echo short-life; sleep 3"))
    until(lambda: scene.causes() == ["tail_uncertain"])
    assert "short-life" in scene.visor.robot("get-text", str(ours))["text"]


def test_a_program_that_says_its_end_leaves_no_doubt(scene, shell):
    scene.heard(scene.tmux.window("work", r"sleep 2; printf '\033]7770;end;0\033\\'; sleep 0.2"))
    until(lambda: "pane_gone" in scene.events())
    until(lambda: "epoch_closed" in scene.events())
    assert scene.causes() == []


def test_a_stop_and_a_later_start_leave_a_gap_between_them(scene, shell):
    scene.say(shell, "before-the-stop")
    scene.visor.visor("down")
    assert scene.tmux.ask(shell, "#{pane_pipe}") == "0"
    scene.heard(shell)
    assert scene.causes() == ["recorder_restart"]
    scene.say(shell, "after-the-stop")
    assert scene.lines(shell).count("before-the-stop") == 1


def test_after_both_were_killed_a_pane_is_heard_and_comes_back_to_its_pipe_without_a_second_gap(scene, shell):
    scene.say(shell, "before-the-kills")
    recorder, daemon = scene.visor.recorder_pid, scene.visor.daemon_pid
    os.kill(daemon, signal.SIGKILL)
    os.kill(recorder, signal.SIGKILL)
    until(scene.panes)
    for number in range(30):
        scene.say(shell, f"word-{number}-after")
    scene.heard(shell)
    assert scene.causes() == ["recorder_restart"]
    assert [line for line in scene.lines(shell) if line.startswith("word-")] == [f"word-{n}-after" for n in range(30)]


def test_killing_the_daemon_loses_nothing(scene, shell):
    scene.say(shell, "before-the-kill")
    scene.visor.kill_daemon()
    scene.tmux.type(shell, "echo while''-dead")
    scene.say(shell, "after-the-kill")
    assert [line for line in scene.lines(shell) if line in ("before-the-kill", "while-dead", "after-the-kill")] == [
        "before-the-kill",
        "while-dead",
        "after-the-kill",
    ]
    assert scene.causes() == []
