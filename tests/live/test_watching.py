"""Capture changes nothing for the users of the tmux server."""

import os
import signal
import subprocess
import threading
import time

import pytest

from tests.live.polling import wait_until

FORMAT = "#{window_width}x#{window_height} #{pane_pid} #{window_layout} #{session_attached}"


def has_exited(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):  # ProcessLookupError: it ended between opening and reading
        return True


def read_server_pid(tmux) -> int:
    return int(tmux("display-message", "-p", "#{pid}"))


def attach_client(tmux, session: str) -> subprocess.Popen:
    """Attach a client to a session on its own pseudo-terminal."""
    master, slave = os.openpty()
    command = ["tmux", "-S", tmux.socket, "attach", "-t", f"={session}"]
    client = subprocess.Popen(
        command, stdin=slave, stdout=slave, stderr=slave, start_new_session=True, env={**os.environ, "TERM": "xterm"}
    )
    os.close(slave)
    threading.Thread(target=drain, args=(master,), daemon=True).start()
    wait_until(lambda: tmux("list-clients", "-t", f"={session}"))
    return client


def drain(master: int) -> None:
    try:
        while os.read(master, 65536):
            pass
    except OSError:
        os.close(master)


def test_capture_changes_no_size_environment_hook_or_option(scene):
    tmux = scene.tmux
    mux_id = tmux.start_session(width=133, height=41)
    tmux("set-environment", "-t", "work", "SSH_AUTH_SOCK", "/their/agent")
    tmux("set-hook", "-g", "after-split-window", "set -g @split yes")
    read_tmux_state = lambda: (  # noqa: E731
        tmux.read_format(mux_id, FORMAT),
        tmux("show-environment", "-t", "work"),
        tmux("show-hooks", "-g"),
        tmux("show-options", "-g"),
        tmux("show-options", "-s"),
        tmux("show-options", "-gw"),
        tmux("list-sessions"),
        tmux("list-clients"),
    )
    before = read_tmux_state()
    scene.wait_until_captured(mux_id)
    scene.print_word(mux_id, "heard-it")
    assert read_tmux_state() == before
    scene.visor.run_checked("down")
    assert read_tmux_state() == before
    assert tmux.read_format(mux_id, "#{pane_pipe}") == "0"


def test_the_server_exits_with_its_last_session(scene, shell):
    pid = read_server_pid(scene.tmux)
    scene.tmux.type_line(shell, "exit")
    wait_until(lambda: has_exited(pid), timeout_s=1.5)


@pytest.mark.parametrize("kill", ["kill-session", "kill-server"])
def test_kill_commands_end_the_server(scene, shell, kill):
    pid = read_server_pid(scene.tmux)
    scene.tmux(*([kill, "-t", "=work"] if kill == "kill-session" else [kill]))
    wait_until(lambda: has_exited(pid), timeout_s=1.5)


def test_a_session_with_destroy_unattached_still_ends(scene, shell):
    scene.tmux("new-session", "-d", "-s", "fleeting", "sh")
    client = attach_client(scene.tmux, "fleeting")
    scene.tmux("set", "-t", "=fleeting:", "destroy-unattached", "on")
    wait_until(lambda: len(scene.list_panes()) == 2)
    client.kill()
    client.wait()
    wait_until(lambda: "fleeting" not in scene.tmux("list-sessions"), timeout_s=1.5)
    scene.print_word(shell, "the-rest-lives-on")


def test_a_server_with_exit_unattached_is_captured_and_still_exits(scene):
    mux_id = scene.tmux.start_session(command="sh")
    client = attach_client(scene.tmux, "work")
    scene.tmux("set", "-s", "exit-unattached", "on")
    pid = read_server_pid(scene.tmux)
    scene.wait_until_captured(mux_id)
    scene.print_word(mux_id, "heard-without-a-client")
    client.kill()
    client.wait()
    wait_until(lambda: has_exited(pid), timeout_s=1.5)


def test_exit_unattached_can_be_set_during_capture(scene, shell):
    client = attach_client(scene.tmux, "work")
    pid = read_server_pid(scene.tmux)
    scene.tmux("set", "-s", "exit-unattached", "on")
    client.kill()
    client.wait()
    wait_until(lambda: has_exited(pid), timeout_s=1.5)


def test_a_client_whose_only_session_is_killed_detaches(scene, shell):
    scene.tmux("set", "-g", "detach-on-destroy", "off")
    client = attach_client(scene.tmux, "work")
    pid = read_server_pid(scene.tmux)
    scene.tmux("kill-session", "-t", "=work")
    wait_until(lambda: client.poll() is not None, timeout_s=1.5)
    wait_until(lambda: has_exited(pid), timeout_s=1.5)


def test_commands_without_a_target_reach_the_users_session(scene, shell):
    tmux = scene.tmux
    window = tmux("new-window", "-P", "-F", "#{window_id}", "exec cat")
    assert tmux.read_format(window, "#{session_name}") == tmux.read_format(shell, "#{session_name}")
    assert tmux("display-message", "-p", "#{window_id}") == window
    tmux.type_line(window, "a-word-in-the-new-window")
    wait_until(lambda: "a-word-in-the-new-window" in scene.visor.run("search", "a-word-in-the-new-window")[1])


def test_bell_flags_are_unaffected_by_capture(scene, shell):
    scene.tmux("new-session", "-d", "-s", "other", "sh")
    scene.tmux("set", "-g", "monitor-bell", "on")
    mux_id = scene.tmux("display-message", "-p", "-t", "=other:", "#{pane_id}")
    scene.wait_until_captured(mux_id)
    scene.tmux.type_line(mux_id, r"printf '\a'")
    wait_until(lambda: scene.tmux("list-windows", "-t", "=other", "-F", "#{window_bell_flag}") == "1")


def test_clear_history_and_resize_lose_no_output(scene, shell):
    scene.print_word(shell, "before-it-all")
    scene.tmux("clear-history", "-t", shell)
    scene.tmux("resize-window", "-t", "=work:", "-x", "60", "-y", "15")
    scene.print_word(shell, "after-it-all")
    lines = scene.read_lines(shell)
    assert lines.count("before-it-all") == lines.count("after-it-all") == 1
    assert scene.list_gap_causes() == []


@pytest.mark.parametrize("times", [2, pytest.param(5, marks=pytest.mark.live)])
def test_killing_the_daemon_under_busy_tmux_commands_never_harms_the_server(scene, shell, times):
    kill_daemon_under_busy_commands(scene, busy=3, times=times)


def kill_daemon_under_busy_commands(scene, *, busy: int, times: int = 5) -> None:
    """Kill the daemon repeatedly while ``busy`` threads run tmux commands; the server must survive."""
    pid, stop = read_server_pid(scene.tmux), threading.Event()
    threads = [threading.Thread(target=list_panes_repeatedly, args=(scene.tmux, stop)) for _ in range(busy)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(times):
            scene.wait_until_captured(scene.tmux("list-panes", "-a", "-F", "#{pane_id}").split()[0])
            scene.visor.kill_daemon()
            scene.list_panes()
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert read_server_pid(scene.tmux) == pid


def list_panes_repeatedly(tmux, stop: threading.Event) -> None:
    while not stop.is_set():
        tmux("list-panes", "-a")


def test_a_stopped_daemon_and_recorder_do_not_block_tmux(folder, scene, shell):
    stop_and_kill_processes(folder, scene, shell, lambda: None)


@pytest.mark.live
def test_a_daemon_and_recorder_stopped_for_a_minute_do_not_block_tmux(folder, scene, shell):
    """Marked live for its length: notifications and output have a minute to fill every buffer."""
    stop_and_kill_processes(folder, scene, shell, lambda: time.sleep(60))


def stop_and_kill_processes(folder, scene, shell, meanwhile):
    count_ticks = lambda: read_number(f"{folder}/ticks")  # noqa: E731
    scene.tmux.type_line(
        shell, f"i=0; while :; do i=$((i+1)); echo tick $i; echo $i > {folder}/ticks; sleep 0.01; done"
    )
    daemon, recorder = scene.visor.daemon_pid, scene.visor.recorder_pid
    for process in (daemon, recorder):
        os.kill(process, signal.SIGSTOP)
    meanwhile()
    before = count_ticks()
    wait_until(lambda: count_ticks() > before + 100)
    for process in (daemon, recorder):
        os.kill(process, signal.SIGKILL)
    before = count_ticks()
    wait_until(lambda: count_ticks() > before + 100)
    pid = read_server_pid(scene.tmux)
    scene.tmux("kill-server")
    wait_until(lambda: has_exited(pid), timeout_s=2)


@pytest.mark.live
def test_a_stopped_daemon_does_not_freeze_a_pane_with_a_foreign_pipe(folder, scene):
    """The daemon is attached to the session then; without its guard client tmux would stop reading the pane."""
    program = f"i=0; while :; do i=$((i+1)); seq 1 3000; echo $i > {folder}/ticks; done"
    mux_id = scene.tmux.start_session(command=f"read go; {program}")
    scene.tmux("pipe-pane", "-t", mux_id, "exec cat > /dev/null")
    scene.wait_until_captured(mux_id, "control")
    assert scene.visor.call_robot("health")["servers"][0]["attached_sessions"] == 1
    daemon = scene.visor.daemon_pid
    os.kill(daemon, signal.SIGSTOP)
    try:
        scene.tmux("send-keys", "-t", mux_id, "Enter")
        # Far more than the buffers of tmux and of the pipe hold.
        wait_until(lambda: read_number(f"{folder}/ticks") > 500, timeout_s=60)
    finally:
        os.kill(daemon, signal.SIGKILL)
    before = read_number(f"{folder}/ticks")
    wait_until(lambda: read_number(f"{folder}/ticks") > before + 20)
    wait_until(lambda: scene.tmux("list-clients") == "")


@pytest.mark.live
def test_a_quiet_server_gets_a_few_commands_a_minute(scene, shell):
    client = attach_client(scene.tmux, "work")
    scene.wait_until_captured(shell)
    name = scene.tmux("list-clients", "-F", "#{client_name}")
    count_commands = lambda: scene.tmux("show-messages", "-t", name).count("list-panes")  # noqa: E731
    time.sleep(6)
    before = count_commands()
    time.sleep(12)
    assert count_commands() - before <= 2
    client.kill()
    client.wait()


def test_a_new_pane_and_a_resize_are_noticed_soon(scene, shell):
    scene.wait_until_captured(shell)
    began = time.monotonic()
    split = scene.tmux("split-window", "-d", "-P", "-F", "#{pane_id}", "-t", shell, "cat")
    wait_until(lambda: scene.tmux.read_format(split, "#{pane_pipe}") == "1", timeout_s=5)
    heard_s = time.monotonic() - began
    began = time.monotonic()
    scene.tmux("resize-window", "-t", "=work:", "-x", "77")
    wait_until(lambda: 77 in [pane["width"] for pane in scene.list_panes()], timeout_s=5)
    assert (heard_s < 2, time.monotonic() - began < 2) == (True, True)


def read_number(path: str) -> int:
    try:
        with open(path, encoding="ascii") as file:
            return int(file.read() or 0)
    except FileNotFoundError:
        return 0
