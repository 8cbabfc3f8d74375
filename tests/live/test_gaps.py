"""Output that could not be captured is one gap with its cause, and everything around it is exact."""

import os
import signal
from pathlib import Path

from tests.live.polling import wait_until


def test_a_killed_recorder_is_one_gap_and_the_pane_is_captured_again(scene, shell):
    scene.print_word(shell, "before-the-kill")
    os.kill(scene.visor.recorder_pid, signal.SIGKILL)
    wait_until(lambda: scene.list_gap_causes() == ["recorder_restart"])
    scene.wait_until_captured(shell)
    scene.print_word(shell, "after-the-kill")
    text = scene.read_lines(shell)
    assert text.count("before-the-kill") == 1
    assert text.count("after-the-kill") == 1
    assert scene.list_gap_causes() == ["recorder_restart"]
    (gap,) = scene.visor.call_robot("list-gaps")["items"]
    assert gap["end_at"] is not None


def test_a_pipe_taken_by_another_program_is_left_alone_and_capture_continues(folder, scene, shell):
    scene.print_word(shell, "before-the-theft")
    scene.tmux("pipe-pane", "-t", shell, f"cat >> {folder}/theirs")
    scene.wait_until_captured(shell, "control")
    scene.print_word(shell, "after-the-theft")
    assert scene.list_gap_causes() == ["pipe_stolen"]
    assert scene.tmux.read_format(shell, "#{pane_pipe}") == "1"
    wait_until(lambda: "after-the-theft" in Path(folder, "theirs").read_text())
    assert scene.read_lines(shell).count("after-the-theft") == 1


def test_a_pipe_toggled_by_the_user_works_and_capture_continues(folder, scene, shell):
    toggle = ("pipe-pane", "-o", "-t", shell, f"cat >> {folder}/theirs")
    scene.tmux(*toggle)
    scene.wait_until_captured(shell, "control")
    assert scene.list_gap_causes() == ["pipe_closed"]
    scene.tmux(*toggle)
    assert scene.tmux.read_format(shell, "#{pane_pipe}") == "1"
    scene.print_word(shell, "in-their-log")
    wait_until(lambda: "in-their-log" in Path(folder, "theirs").read_text())
    scene.tmux(*toggle)
    assert scene.tmux.read_format(shell, "#{pane_pipe}") == "0"
    scene.print_word(shell, "still-heard-by-us")
    assert scene.list_gap_causes() == ["pipe_closed"]


def test_a_killed_server_is_one_gap_per_pane_and_a_new_server_has_new_panes(scene, shell):
    scene.print_word(shell, "last-words")
    old = scene.find_pane_id(shell)
    scene.tmux.kill_server()
    wait_until(lambda: scene.list_gap_causes() == ["server_gone"])
    wait_until(lambda: scene.list_panes() == [])
    assert "last-words" in scene.visor.call_robot("get-text", str(old))["text"]
    assert scene.wait_until_captured(scene.tmux.start_session(command="sh")) != old
    assert scene.list_gap_causes() == ["server_gone"]


def test_a_program_that_exits_leaves_its_output_and_an_uncertain_tail(scene, shell):
    pane_id = scene.wait_until_captured(scene.tmux.open_window("work", "echo short-life; sleep 3"))
    wait_until(lambda: scene.list_gap_causes() == ["tail_uncertain"])
    assert "short-life" in scene.visor.call_robot("get-text", str(pane_id))["text"]


def test_a_program_that_reports_its_end_leaves_no_gap(scene, shell):
    scene.wait_until_captured(scene.tmux.open_window("work", r"sleep 2; printf '\033]7770;end;0\033\\'; sleep 0.2"))
    wait_until(lambda: "pane_gone" in scene.list_event_kinds())
    wait_until(lambda: "epoch_closed" in scene.list_event_kinds())
    assert scene.list_gap_causes() == []


def test_stopping_and_starting_leaves_one_gap(scene, shell):
    scene.print_word(shell, "before-the-stop")
    scene.visor.run_checked("down")
    assert scene.tmux.read_format(shell, "#{pane_pipe}") == "0"
    scene.wait_until_captured(shell)
    assert scene.list_gap_causes() == ["recorder_restart"]
    scene.print_word(shell, "after-the-stop")
    assert scene.read_lines(shell).count("before-the-stop") == 1


def test_killing_daemon_and_recorder_leaves_one_gap_and_capture_returns_to_the_pipe(scene, shell):
    scene.print_word(shell, "before-the-kills")
    recorder, daemon = scene.visor.recorder_pid, scene.visor.daemon_pid
    os.kill(daemon, signal.SIGKILL)
    os.kill(recorder, signal.SIGKILL)
    # Output before that is in the gap.
    wait_until(lambda: any(pane["heard_by"] != "none" for pane in scene.list_panes()))
    for number in range(30):
        scene.print_word(shell, f"word-{number}-after")
    scene.wait_until_captured(shell)
    assert scene.list_gap_causes() == ["recorder_restart"]
    assert [line for line in scene.read_lines(shell) if line.startswith("word-")] == [
        f"word-{n}-after" for n in range(30)
    ]


def test_killing_the_daemon_loses_no_output(scene, shell):
    scene.print_word(shell, "before-the-kill")
    scene.visor.kill_daemon()
    scene.tmux.type_line(shell, "echo while''-dead")
    scene.print_word(shell, "after-the-kill")
    assert [
        line for line in scene.read_lines(shell) if line in ("before-the-kill", "while-dead", "after-the-kill")
    ] == [
        "before-the-kill",
        "while-dead",
        "after-the-kill",
    ]
    assert scene.list_gap_causes() == []
