"""A pane's past in the whole product: played, filmed, reported, copied; without its secrets and without leftovers."""

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
    """One watched server; every test has a session of its own on it."""
    with run_watched_tmux() as found:
        found.tmux.start_session("keep", "sleep 1000")
        yield found


@pytest.fixture
def shell(scene, request):
    mux_id = scene.tmux.start_session(request.node.name, "sh")
    scene.wait_until_captured(mux_id)
    yield mux_id
    scene.tmux("kill-session", "-t", f"={request.node.name}")


@pytest.fixture
def watch(scene):
    """Starts a program in a pane of its own and tells what it shows."""

    def start(command: str):
        pane = scene.tmux.start_session("reader", command)
        return lambda: scene.tmux("capture-pane", "-p", "-t", pane), pane

    yield start
    scene.tmux("kill-session", "-t", "=reader")


def player(visor: VisorInstance, *words: str) -> str:
    """The command that plays a film for somebody in another pane."""
    names = [f"{name}={value}" for name, value in visor.env.items() if name.startswith("VISOR_")]
    return shlex.join(["env", *names, sys.executable, "-m", "termvisor", "replay", *words])


def film(visor: VisorInstance, pane: int) -> tuple[dict, list[list]]:
    header, *events = map(msgspec.json.decode, visor.run_checked("export", str(pane), "--cast").splitlines())
    return header, events


def rows(text: str) -> list[str]:
    return [row.rstrip() for row in text.split("\n")]


def test_a_film_ends_as_the_pane_looks(folder, scene, shell, watch):
    scene.print_word(shell, "hello-there")
    scene.tmux.type_line(shell, "printf '\\033[1;31mred\\033[0m\\n'; ls --color=always /; PS1='at the end $ '")
    ours = scene.find_pane_id(shell)
    scene.visor.call_robot("wait-for", str(ours), "at the end", "--timeout-secs", "20")
    header, events = film(scene.visor, ours)
    assert (header["version"], header["term"]["cols"], header["term"]["rows"]) == (3, 100, 30)
    with open(f"{folder}/film", "w", encoding="utf-8", newline="") as file:
        file.write("".join(event[2] for event in events if event[1] == "o"))
    screen, _ = watch(f"stty raw -echo; cat {folder}/film; sleep 1000")
    shown = rows(scene.tmux("capture-pane", "-p", "-t", shell))
    wait_until(lambda: rows(screen()) == shown)


def test_a_secret_painted_cell_by_cell_is_in_no_film_and_on_no_players_screen(folder, scene, shell, watch):
    with open(f"{folder}/paint.py", "w", encoding="utf-8") as file:
        file.write(PAINT.format(key=KEY))
    scene.tmux.type_line(shell, f"clear; {sys.executable} {folder}/paint.py; sleep 0.2; clear; echo ov''er")
    ours = scene.find_pane_id(shell)
    scene.visor.call_robot("wait-for", str(ours), "^over$", "--regex", "--timeout-secs", "20")
    frames = [
        "".join(msgspec.json.decode(line)["rows"])
        for line in scene.visor.run_checked("robot", "replay", str(ours)).splitlines()
    ]
    whole = [index for index, text in enumerate(frames) if "painted" in text]
    assert whole
    assert not any(KEY[:40] in text or KEY[-30:] in text for text in frames)
    assert any("redacted" in frames[index] for index in whole)
    _, events = film(scene.visor, ours)
    assert not any(KEY[:40] in event[2] or KEY[-30:] in event[2] for event in events)
    screen, pane = watch(player(scene.visor, str(ours)))
    wait_until(lambda: "end of the recording" in screen())
    scene.tmux("send-keys", "-t", pane, "-N", str(len(frames) - whole[0] - 1), ",")
    wait_until(lambda: "painted" in screen())
    assert KEY[:40] not in screen()
    assert "redacted" in screen()


def test_a_report_and_a_copy_of_everything(folder, scene, shell):
    scene.print_word(shell, "words-to-keep")
    report = scene.visor.run_checked("export", "--report", "--since", "today")
    assert report.startswith("# Report from ")
    assert f"| {scene.find_pane_id(shell)} | test\\_a\\_report" in report
    copy = f"{folder}/copy.db"
    scene.visor.run_checked("export", "--snapshot", "--output", copy)
    assert stat.S_IMODE(os.stat(copy).st_mode) == 0o600
    status, _, errors = scene.visor.run("export", "--snapshot", "--output", copy)
    assert status != 0
    assert "copy.db" in errors


def test_killing_the_daemon_ends_the_drawing_tmux_and_nobody_ever_watched_it(scene, shell, watch):
    scene.print_word(shell, "something")
    ours, folder = scene.find_pane_id(shell), scene.visor.paths.runtime_dir
    for _ in range(3):
        scene.tmux.type_line(shell, "seq 1 3000; sleep 0.1")
    screen, _ = watch(player(scene.visor, str(ours), "--speed", "0.1"))
    pid = wait_until(lambda: drawing(folder))
    wait_until(lambda: f"▶ {ours} ·" in screen())
    servers = [server["socket"] for server in scene.visor.call_robot("health")["servers"]]
    assert servers == [scene.tmux.socket]
    os.kill(scene.visor.daemon_pid, signal.SIGKILL)
    wait_until(lambda: not os.path.exists(f"/proc/{pid}"))


def drawing(folder: str) -> int | None:
    """The process of the tmux that draws, if there is one."""
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        if b"-D" in words and f"{folder}/render".encode() in words:
            return int(name)
    return None
