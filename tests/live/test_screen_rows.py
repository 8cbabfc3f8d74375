"""Screen rows of real programs that repaint, found with `visor search`."""

import shutil
import sys
from pathlib import Path

import pytest

from tests.live.conftest import run_watched_tmux
from tests.live.polling import wait_until
from tests.live.repainting_program import RepaintingProgram
from tests.live.robot_call import call_robot

KEY = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
CURSES = """
import curses, time
def main(screen):
    curses.curs_set(0)
    for turn in range(100000):
        screen.erase()
        screen.addstr(0, 0, f"top - up {turn} s, load average: 0.{turn % 90}")
        for row, name in enumerate(("init", "postgres", "zebrad"), 2):
            screen.addstr(row, 0, f"{turn * 7 % 999:>5} root {turn % 100:>3}.0 {name}")
        screen.refresh()
        time.sleep(0.05)
curses.wrapper(main)
"""
FAST = r"""
import os, time
os.write(1, b"\x1b[?1049h\x1b[?25l\x1b[2J")
for turn in range(0, {times}, 4000):
    os.write(1, b"".join(b"\x1b[H%d of many" % number for number in range(turn, turn + 4000)))
os.write(1, b"\x1b[3;1Hcounted to the end")
time.sleep(1000)
"""


@pytest.fixture(scope="module")
def scene():
    with run_watched_tmux() as watched:
        watched.tmux.start_session("keep", "cat")
        yield watched


@pytest.fixture
def start_program(scene, tmp_path):
    """Return a function that starts a repainting program in a captured window; it returns program and pane number."""

    def start(name: str, **options) -> tuple[RepaintingProgram, int]:
        program = RepaintingProgram(str(tmp_path), name, **options)
        return program, scene.wait_until_captured(scene.tmux.open_window("keep", f"exec {program.command_line}"))

    return start


def search_screen_rows(scene, text: str, pane: int) -> list[dict]:
    return scene.visor.call_robot("search", f"{text} source:screen", "--pane", str(pane), "--limit", "1000")["items"]


def wait_for_row(scene, text: str, pane: int) -> dict:
    """Wait until exactly one matching row is stored for the pane."""
    wait_until(lambda: search_screen_rows(scene, text, pane))
    (item,) = search_screen_rows(scene, text, pane)
    return item


def list_screen_rows(scene, pane: int) -> list[str]:
    """Return all stored screen rows of a pane that contain a letter."""
    words = " OR ".join(f"{letter}*" for letter in "abcdefghijklmnopqrstuvwxyz")
    return [item["text"] for item in search_screen_rows(scene, f"({words})", pane)]


@pytest.mark.parametrize("sync", [True, False])
def test_a_screen_row_is_found_with_its_screen_and_without_the_input_area(scene, start_program, sync):
    agent, pane = start_program(f"agent{sync:d}", sync=sync)
    agent.add_row("the zebra crossed the road 17 times")
    agent.set_input("half a thought about okapis")
    item = wait_for_row(scene, "zebra", pane)
    assert (item["source"], item["number"], item["text"]) == ("screen", None, "the zebra crossed the road 17 times")
    assert item["at"] <= item["last_at"]
    screen = scene.visor.call_robot("get-screen", str(pane), "--at", str(item["screen"]))
    assert (screen["screen"], screen["at"], screen["is_alternate"]) == (item["screen"], item["at"], True)
    assert "the zebra crossed the road 17 times" in screen["rows"]
    wait_until(lambda: "okapis" in "".join(call_robot(scene.visor, "get-screen", str(pane))["rows"]))
    agent.add_row("one more")
    later = wait_for_row(scene, '"one more"', pane)
    assert "okapis" not in str(scene.visor.call_robot("get-screen", str(pane), "--at", str(later["screen"]))["rows"])
    assert search_screen_rows(scene, "okapis", pane) == []
    assert len(search_screen_rows(scene, "thinking", pane)) == 1


def test_context_rows_of_a_hit_come_from_its_screen(scene, start_program):
    agent, pane = start_program("around")
    agent.add_row("above the gnu")
    agent.add_row("the gnu itself")
    wait_for_row(scene, "itself", pane)
    text = scene.visor.run_checked("search", "itself", "--pane", str(pane), "-C", "1")
    assert "    above the gnu\n" in text
    assert " on screen " in text
    assert "the gnu itself" in scene.visor.run_checked("screen", str(pane), "--at", "now")


def test_wait_for_matches_a_screen_row_and_get_text_shows_the_screen(scene, start_program):
    agent, pane = start_program("waited")
    agent.add_row("Do you want to proceed?")
    waited = scene.visor.call_robot("wait-for", str(pane), "want to proceed", "--timeout-secs", "20")
    assert (waited["outcome"], waited["shown"]) == ("matched", "Do you want to proceed?")
    shown = scene.visor.run_checked("get-text", str(pane))
    assert "Do you want to proceed?" in shown
    assert "This is its screen" in shown


def test_repainting_on_the_main_screen_stores_no_duplicate_rows(scene, start_program):
    agent, pane = start_program("inline", screen="main")
    agent.add_row("the kudu ran")
    wait_until(lambda: call_robot(scene.visor, "search", "kudu", "--pane", str(pane))["items"])
    wait_until(lambda: call_robot(scene.visor, "health")["looks_per_minute"] > 0)
    agent.add_row("and rested")
    scene.visor.call_robot("wait-for", str(pane), "and rested")
    assert search_screen_rows(scene, "kudu", pane) == []


def test_a_curses_page_with_changing_numbers_is_stored_once_per_row(scene, tmp_path):
    script = tmp_path / "top.py"
    script.write_text(CURSES)
    pane = scene.wait_until_captured(scene.tmux.open_window("keep", f"exec {sys.executable} -S {script}"))
    wait_for_row(scene, "zebrad", pane)
    turns = lambda: int(scene.visor.call_robot("get-screen", str(pane))["rows"][0].split()[3])  # noqa: E731
    first = wait_until(turns)
    wait_until(lambda: turns() > first + 20)
    assert sorted(text.split()[-1] for text in list_screen_rows(scene, pane) if "root" in text) == [
        "init",
        "postgres",
        "zebrad",
    ]


@pytest.mark.parametrize("times", [100_000, pytest.param(1_000_000, marks=pytest.mark.live)])
def test_many_repaints_do_not_fill_the_table(scene, tmp_path, times):
    script = tmp_path / "fast.py"
    script.write_text(FAST.format(times=times))
    pane = scene.wait_until_captured(scene.tmux.open_window("keep", f"exec {sys.executable} -S {script}"))
    wait_until(lambda: search_screen_rows(scene, '"counted to the end"', pane), timeout_s=60)
    assert sorted(text.split()[-1] for text in list_screen_rows(scene, pane)) == ["end", "many"]


def test_a_secret_on_the_alternate_screen_is_not_stored(scene, start_program):
    agent, pane = start_program("careless")
    agent.add_row(f"export GITHUB_TOKEN={KEY}")
    item = wait_for_row(scene, "export", pane)
    assert "redacted" in item["text"]
    folder = Path(scene.visor.paths.database).parent
    stored = b"".join(path.read_bytes() for path in folder.glob("visor.db*"))
    assert b"GITHUB_TOKEN" in stored
    assert KEY[4:24].encode() not in stored


@pytest.mark.live
def test_a_screen_lifetime_continues_after_a_daemon_kill(scene, start_program):
    agent, pane = start_program("survivor")
    agent.add_row("seen before the crash")
    wait_for_row(scene, '"before the crash"', pane)
    before = list_screen_rows(scene, pane)
    scene.visor.kill_daemon()
    agent.add_row("seen after the crash")
    wait_for_row(scene, '"after the crash"', pane)
    assert sorted(list_screen_rows(scene, pane)) == sorted([*before, "seen after the crash"])


def test_a_row_is_stored_again_in_another_screen_lifetime(scene, tmp_path):
    mux_id = scene.tmux.open_window("keep", "sh")
    pane = scene.wait_until_captured(mux_id)
    for turn, name in enumerate(("first", "second"), 1):
        agent = RepaintingProgram(str(tmp_path), name)
        agent.add_row("the same row")
        scene.tmux.type_line(mux_id, agent.command_line)
        wait_until(lambda turn=turn: len(search_screen_rows(scene, '"same row"', pane)) == turn)
        agent.quit()
        wait_until(lambda: scene.tmux.read_format(mux_id, "#{alternate_on}") == "0")
        scene.print_word(mux_id, f"ended{turn}")


def test_scrolling_output_is_never_sampled():
    with run_watched_tmux() as scene:
        words = r"printf '\r\033[2K\033[36m%s\033[0m Thinking' $i; [ $((i % 7)) = 0 ] && printf '\r\nline %s\r\n' $i"
        loop = f"i=0; while [ $i -lt 300 ]; do i=$((i+1)); {words}; sleep 0.005; done; echo over; exec cat"
        pane = scene.wait_until_captured(scene.tmux.start_session("chat", loop))
        scene.visor.call_robot("wait-for", str(pane), "over")
        assert scene.visor.call_robot("health")["looks_per_minute"] == 0


def test_a_screen_painted_before_the_capture_is_stored_once():
    with run_watched_tmux() as scene:
        pane = scene.wait_until_captured(
            scene.tmux.start_session("still", r"printf '\033[?1049h\033[2J\033[Hstill life\n'; exec sleep 1000")
        )
        wait_for_row(scene, "still", pane)
        scene.visor.kill_daemon()
        assert len(search_screen_rows(scene, "still", pane)) == 1


@pytest.mark.live
def test_the_pages_of_less_are_searchable(scene, tmp_path):
    assert shutil.which("less"), "less is missing; install it with: apt-get install less"
    animals = [f"{letter}{other}nimal" for letter in "abcdefghijklmnop" for other in "aeiou"]
    (tmp_path / "zoo.txt").write_text("\n".join(animals))
    mux_id = scene.tmux.open_window("keep", f"exec less {tmp_path}/zoo.txt")
    pane = scene.wait_until_captured(mux_id)
    wait_for_row(scene, animals[0], pane)
    scene.tmux("send-keys", "-t", mux_id, "Space")
    wait_for_row(scene, animals[40], pane)
    scene.tmux("send-keys", "-t", mux_id, "g")
    scene.tmux("send-keys", "-t", mux_id, "G")
    wait_for_row(scene, animals[-1], pane)
    assert len(search_screen_rows(scene, animals[0], pane)) == 1
