"""Replay, cast export, report and database snapshot with a real daemon; without secrets and leftover processes."""

import os
import shlex
import signal
import stat
import sys

import msgspec
import pytest

from termvisor.testing.visor_instance import VisorInstance
from tests.live.conftest import run_watched_tmux
from tests.live.polling import wait_until

KEY = "sk-ant-api03-" + "aB3dE6gH9" * 10
PAINT = """
import sys, time
for at, char in enumerate({key!r}):
    sys.stdout.write("\\x1b[%d;%dH\\x1b[3%dm%s" % (at // 50 + 3, at % 50 + 1, at % 8, char))
    sys.stdout.flush()
    time.sleep(0.002)
sys.stdout.write("\\x1b[0m\\x1b[10;1Hpainted\\x1b[0K\\r\\n")
"""


@pytest.fixture(scope="module")
def scene():
    """One captured server; every test uses its own session."""
    with run_watched_tmux() as watched:
        watched.tmux.start_session("keep", "sleep 1000")
        yield watched


@pytest.fixture
def shell(scene, request):
    mux_id = scene.tmux.start_session(request.node.name, "sh")
    scene.wait_until_captured(mux_id)
    yield mux_id
    scene.tmux("kill-session", "-t", f"={request.node.name}")


@pytest.fixture
def watch_program(scene):
    """Return a function that starts a program in its own pane and returns a reader of its screen."""

    def start(command: str):
        pane = scene.tmux.start_session("reader", command)
        return lambda: scene.tmux("capture-pane", "-p", "-t", pane), pane

    yield start
    scene.tmux("kill-session", "-t", "=reader")


def build_replay_command(visor: VisorInstance, *words: str) -> str:
    """Return the command line that replays a recording in another pane."""
    names = [f"{name}={value}" for name, value in visor.env.items() if name.startswith("VISOR_")]
    return shlex.join(["env", *names, sys.executable, "-m", "termvisor", "replay", *words])


def export_cast(visor: VisorInstance, pane: int) -> tuple[dict, list[list]]:
    header, *events = map(msgspec.json.decode, visor.run_checked("export", str(pane), "--cast").splitlines())
    return header, events


def split_rows(text: str) -> list[str]:
    return [row.rstrip() for row in text.split("\n")]


def test_a_cast_export_ends_with_the_screen_of_the_pane(folder, scene, shell, watch_program):
    scene.print_word(shell, "hello-there")
    scene.tmux.type_line(shell, "printf '\\033[1;31mred\\033[0m\\n'; ls --color=always /; PS1='at the end $ '")
    pane_id = scene.find_pane_id(shell)
    scene.visor.call_robot("wait-for", str(pane_id), "at the end", "--timeout-secs", "20")
    header, events = export_cast(scene.visor, pane_id)
    assert (header["version"], header["width"], header["height"]) == (2, 100, 30)
    with open(f"{folder}/film", "w", encoding="utf-8", newline="") as file:
        file.write("".join(event[2] for event in events if event[1] == "o"))
    screen, _ = watch_program(f"stty raw -echo; cat {folder}/film; sleep 1000")
    expected = split_rows(scene.tmux("capture-pane", "-p", "-t", shell))
    wait_until(lambda: split_rows(screen()) == expected)


def test_a_secret_painted_cell_by_cell_is_masked_in_replay_and_cast_export(folder, scene, shell, watch_program):
    with open(f"{folder}/paint.py", "w", encoding="utf-8") as file:
        file.write(PAINT.format(key=KEY))
    scene.tmux.type_line(shell, f"clear; {sys.executable} {folder}/paint.py; sleep 0.2; clear; echo ov''er")
    pane_id = scene.find_pane_id(shell)
    scene.visor.call_robot("wait-for", str(pane_id), "^over$", "--regex", "--timeout-secs", "20")
    frames = [
        "".join(msgspec.json.decode(line)["rows"])
        for line in scene.visor.run_checked("robot", "replay", str(pane_id)).splitlines()
    ]
    whole = [index for index, text in enumerate(frames) if "painted" in text]
    assert whole
    assert not any(KEY[:40] in text or KEY[-30:] in text for text in frames)
    assert any("redacted" in frames[index] for index in whole)
    _, events = export_cast(scene.visor, pane_id)
    assert not any(KEY[:40] in event[2] or KEY[-30:] in event[2] for event in events)
    screen, pane = watch_program(build_replay_command(scene.visor, str(pane_id)))
    wait_until(lambda: "end of the recording" in screen())
    scene.tmux("send-keys", "-t", pane, "-N", str(len(frames) - whole[0] - 1), ",")
    wait_until(lambda: "painted" in screen())
    assert KEY[:40] not in screen()
    assert "redacted" in screen()


def test_a_report_and_a_database_snapshot_are_exported(folder, scene, shell):
    scene.print_word(shell, "words-to-keep")
    report = scene.visor.run_checked("export", "--report", "--since", "today")
    assert report.startswith("# Report from ")
    assert f"| {scene.find_pane_id(shell)} | test\\_a\\_report" in report
    copy = f"{folder}/copy.db"
    scene.visor.run_at_terminal(f"export --snapshot --output {copy}", "copy.db")
    assert stat.S_IMODE(os.stat(copy).st_mode) == 0o600
    scene.visor.run_at_terminal(f"export --snapshot --output {copy}", "already exists")


def test_killing_the_daemon_ends_the_render_tmux_which_is_never_captured(scene, shell, watch_program):
    scene.print_word(shell, "something")
    pane_id, folder = scene.find_pane_id(shell), scene.visor.paths.runtime_dir
    # More frames than the player fetches ahead, so that the renderer still runs when it is looked for.
    scene.tmux.type_line(shell, "for n in $(seq 900); do echo $n; sleep 0.001; done; echo all-''printed")
    scene.visor.call_robot("wait-for", str(pane_id), "all-printed", "--timeout-secs", "20")
    screen, _ = watch_program(build_replay_command(scene.visor, str(pane_id), "--speed", "0.1"))
    pid = wait_until(lambda: find_render_process(folder))
    wait_until(lambda: f"▶ {pane_id} ·" in screen())
    servers = [server["socket"] for server in scene.visor.call_robot("health")["servers"]]
    assert servers == [scene.tmux.socket]
    os.kill(scene.visor.daemon_pid, signal.SIGKILL)
    wait_until(lambda: not os.path.exists(f"/proc/{pid}"))


def find_render_process(folder: str) -> int | None:
    """Return the pid of the tmux that renders replays, or None."""
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        if b"-D" in words and f"{folder}/render".encode() in words:
            return int(name)
    return None
