"""What programs that repaint showed: real programs in a real tmux, found through the real command."""

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
    with run_watched_tmux() as one:
        one.tmux.start_session("keep", "cat")
        yield one


@pytest.fixture
def paint(scene, tmp_path):
    """Starts a painting program in a window of its own, and waits until it is heard; the program and our number."""

    def start(name: str, **how) -> tuple[RepaintingProgram, int]:
        painter = RepaintingProgram(str(tmp_path), name, **how)
        return painter, scene.wait_until_captured(scene.tmux.open_window("keep", f"exec {painter.command_line}"))

    return start


def found(scene, text: str, pane: int) -> list[dict]:
    return scene.visor.call_robot("search", f"{text} source:screen", "--pane", str(pane), "--limit", "1000")["items"]


def shown(scene, text: str, pane: int) -> dict:
    """Wait until exactly this row was seen in that pane."""
    wait_until(lambda: found(scene, text, pane))
    (item,) = found(scene, text, pane)
    return item


def everything(scene, pane: int) -> list[str]:
    """All sightings of a pane that hold a letter from a to z as a word or a part of one."""
    words = " OR ".join(f"{letter}*" for letter in "abcdefghijklmnopqrstuvwxyz")
    return [item["text"] for item in found(scene, f"({words})", pane)]


@pytest.mark.parametrize("sync", [True, False])
def test_what_an_agent_showed_is_found_with_its_screen_and_without_its_input(scene, paint, sync):
    agent, pane = paint(f"agent{sync:d}", sync=sync)
    agent.add_row("the zebra crossed the road 17 times")
    agent.set_input("half a thought about okapis")
    item = shown(scene, "zebra", pane)
    assert (item["source"], item["number"], item["text"]) == ("screen", None, "the zebra crossed the road 17 times")
    assert item["at"] <= item["last_at"]
    screen = scene.visor.call_robot("get-screen", str(pane), "--at", str(item["screen"]))
    assert (screen["screen"], screen["at"], screen["is_alternate"]) == (item["screen"], item["at"], True)
    assert "the zebra crossed the road 17 times" in screen["rows"]
    wait_until(lambda: "okapis" in "".join(call_robot(scene.visor, "get-screen", str(pane))["rows"]))
    agent.add_row("one more")
    later = shown(scene, '"one more"', pane)
    assert "okapis" not in str(scene.visor.call_robot("get-screen", str(pane), "--at", str(later["screen"]))["rows"])
    assert found(scene, "okapis", pane) == []
    assert len(found(scene, "thinking", pane)) == 1


def test_the_rows_around_a_hit_are_those_of_its_screen(scene, paint):
    agent, pane = paint("around")
    agent.add_row("above the gnu")
    agent.add_row("the gnu itself")
    shown(scene, "itself", pane)
    text = scene.visor.run_checked("search", "itself", "--pane", str(pane), "-C", "1")
    assert "    above the gnu\n" in text
    assert " on screen " in text
    assert "the gnu itself" in scene.visor.run_checked("screen", str(pane), "--at", "now")


def test_a_program_that_repaints_can_be_waited_for_and_get_text_says_where_to_look(scene, paint):
    agent, pane = paint("waited")
    agent.add_row("Do you want to proceed?")
    waited = scene.visor.call_robot("wait-for", str(pane), "want to proceed", "--timeout-secs", "20")
    assert (waited["outcome"], waited["shown"]) == ("matched", "Do you want to proceed?")
    assert f"visor get-screen {pane}" in scene.visor.run_checked("get-text", str(pane))


def test_a_program_that_repaints_on_the_main_screen_does_not_double_its_lines(scene, paint):
    agent, pane = paint("inline", screen="main")
    agent.add_row("the kudu ran")
    wait_until(lambda: call_robot(scene.visor, "search", "kudu", "--pane", str(pane))["items"])
    wait_until(lambda: call_robot(scene.visor, "health")["looks_per_minute"] > 0)
    agent.add_row("and rested")
    scene.visor.call_robot("wait-for", str(pane), "and rested")
    assert found(scene, "kudu", pane) == []


def test_a_page_by_curses_is_one_sighting_a_row_however_its_numbers_change(scene, tmp_path):
    script = tmp_path / "top.py"
    script.write_text(CURSES)
    pane = scene.wait_until_captured(scene.tmux.open_window("keep", f"exec {sys.executable} -S {script}"))
    shown(scene, "zebrad", pane)
    turns = lambda: int(scene.visor.call_robot("get-screen", str(pane))["rows"][0].split()[3])  # noqa: E731
    first = wait_until(turns)
    wait_until(lambda: turns() > first + 20)
    assert sorted(text.split()[-1] for text in everything(scene, pane) if "root" in text) == [
        "init",
        "postgres",
        "zebrad",
    ]


@pytest.mark.parametrize("times", [100_000, pytest.param(1_000_000, marks=pytest.mark.live)])
def test_countless_repaints_do_not_fill_the_table(scene, tmp_path, times):
    script = tmp_path / "fast.py"
    script.write_text(FAST.format(times=times))
    pane = scene.wait_until_captured(scene.tmux.open_window("keep", f"exec {sys.executable} -S {script}"))
    wait_until(lambda: found(scene, '"counted to the end"', pane), timeout_s=60)
    assert sorted(text.split()[-1] for text in everything(scene, pane)) == ["end", "many"]


def test_a_secret_on_the_alternate_screen_is_not_stored(scene, paint):
    agent, pane = paint("careless")
    agent.add_row(f"export GITHUB_TOKEN={KEY}")
    item = shown(scene, "export", pane)
    assert "redacted" in item["text"]
    folder = Path(scene.visor.paths.database).parent
    stored = b"".join(path.read_bytes() for path in folder.glob("visor.db*"))
    assert b"GITHUB_TOKEN" in stored
    assert KEY[4:24].encode() not in stored


def test_a_killed_daemon_goes_on_with_the_life_of_a_screen(scene, paint):
    agent, pane = paint("survivor")
    agent.add_row("seen before the crash")
    shown(scene, '"before the crash"', pane)
    before = everything(scene, pane)
    scene.visor.kill_daemon()
    agent.add_row("seen after the crash")
    shown(scene, '"after the crash"', pane)
    assert sorted(everything(scene, pane)) == sorted([*before, "seen after the crash"])


def test_another_life_of_the_screen_is_stored_anew(scene, tmp_path):
    mux_id = scene.tmux.open_window("keep", "sh")
    pane = scene.wait_until_captured(mux_id)
    for turn, name in enumerate(("first", "second"), 1):
        agent = RepaintingProgram(str(tmp_path), name)
        agent.add_row("the same row")
        scene.tmux.type_line(mux_id, agent.command_line)
        wait_until(lambda turn=turn: len(found(scene, '"same row"', pane)) == turn)
        agent.quit()
        wait_until(lambda: scene.tmux.read_format(mux_id, "#{alternate_on}") == "0")
        scene.print_word(mux_id, f"ended{turn}")


def test_lines_that_scroll_by_are_never_looked_at():
    with run_watched_tmux() as scene:
        words = r"printf '\r\033[2K\033[36m%s\033[0m Thinking' $i; [ $((i % 7)) = 0 ] && printf '\r\nline %s\r\n' $i"
        loop = f"i=0; while [ $i -lt 300 ]; do i=$((i+1)); {words}; sleep 0.005; done; echo over; exec cat"
        pane = scene.wait_until_captured(scene.tmux.start_session("chat", loop))
        scene.visor.call_robot("wait-for", str(pane), "over")
        assert scene.visor.call_robot("health")["looks_per_minute"] == 0


def test_a_screen_that_was_painted_before_anybody_listened_is_seen_and_not_doubled():
    with run_watched_tmux() as scene:
        pane = scene.wait_until_captured(
            scene.tmux.start_session("still", r"printf '\033[?1049h\033[2J\033[Hstill life\n'; exec sleep 1000")
        )
        shown(scene, "still", pane)
        scene.visor.kill_daemon()
        assert len(found(scene, "still", pane)) == 1


@pytest.mark.live
def test_the_pages_of_less_are_found(scene, tmp_path):
    assert shutil.which("less"), "less is missing; install it with: apt-get install less"
    animals = [f"{letter}{other}nimal" for letter in "abcdefghijklmnop" for other in "aeiou"]
    (tmp_path / "zoo.txt").write_text("\n".join(animals))
    mux_id = scene.tmux.open_window("keep", f"exec less {tmp_path}/zoo.txt")
    pane = scene.wait_until_captured(mux_id)
    shown(scene, animals[0], pane)
    scene.tmux("send-keys", "-t", mux_id, "Space")
    shown(scene, animals[40], pane)
    scene.tmux("send-keys", "-t", mux_id, "g")
    scene.tmux("send-keys", "-t", mux_id, "G")
    shown(scene, animals[-1], pane)
    assert len(found(scene, animals[0], pane)) == 1
