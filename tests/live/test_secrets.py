"""Fifty kinds of secrets, shown in nine ways: none is in the database, its index, a log, a face or an export."""

from pathlib import Path

import pytest

from termvisor.testing.private_tmux import make_short_folder
from tests.live.conftest import run_watched_tmux
from tests.live.fake_secrets import (
    SHOW_MODES,
    FakeSecret,
    build_context_secrets,
    build_provider_secrets,
    build_show_command,
    find_leaked_kinds,
)
from tests.live.polling import wait_until
from tests.live.robot_call import call_robot
from tests.live.shell_setup import ShellHome, ShellPane

SECRETS, FORMS = build_provider_secrets(), build_context_secrets()
ALL = SECRETS + FORMS
NARROW = 60
FACES = [
    "get-text {} --tail 5000",
    "robot get-text {} --tail 5000 --numbers",
    "robot get-text {} --tail 5000 --escapes",
    "get-screen {}",
    "robot get-screen {} --escapes",
    "export {} --text",
    "export {} --jsonl",
    "export {} --raw",
    "export {} --cast",
    "robot replay {}",
    "robot list-commands --pane {}",
    "robot events --limit 1000",
    "robot state",
    "robot search end --limit 1000 -C 3",
    "export --report",
    "search key --limit 1000",
    "up",
    "logs",
]


TELLING = ["get-screen {}", "export {} --text", "export {} --raw", "robot replay {}"]
"""What is asked for every way; the rest shows the same text."""


@pytest.fixture(scope="module")
def fleet():
    with run_watched_tmux() as scene:
        scene.tmux.start_session("keep", "sleep 1000")
        yield scene


@pytest.fixture(scope="module")
def shown(fleet) -> dict[str, int]:
    """A narrow pane a way, each of which showed all secrets; our numbers of them."""
    with make_short_folder() as folder:
        panes = {way: fleet.tmux.start_session(way, "sh", width=NARROW, height=40) for way in SHOW_MODES}
        panes["typed"] = fleet.tmux.start_session("typed", "bash --norc --noprofile", width=NARROW, height=40)
        ours = {way: fleet.wait_until_captured(mux_id) for way, mux_id in panes.items()}
        for way in SHOW_MODES:
            forms = FORMS if way == "print" else []
            fleet.tmux.type_line(panes[way], build_show_command(folder, way, SECRETS + forms))
        for one in SECRETS:
            fleet.tmux.type_line(panes["typed"], f": {one.text}")
        fleet.tmux.type_line(panes["typed"], "echo way-typed''-is-done")
        for way, number in ours.items():
            fleet.visor.call_robot("wait-for", str(number), f"^way-{way}-is-done$", "--regex", "--timeout-secs", "40")
    return ours


@pytest.mark.parametrize("way", [*SHOW_MODES, "typed"])
def test_no_face_of_a_pane_shows_a_secret(fleet, shown, way):
    asked = FACES if way == "print" else TELLING
    faces = [face.format(shown[way]) for face in asked if "{}" in face]
    assert {face: find_leaked_kinds(told(fleet, face), ALL) for face in faces} == {face: [] for face in faces}


def test_no_face_of_the_whole_shows_a_secret(fleet, shown):
    faces = [face for face in FACES if "{}" not in face]
    assert {face: find_leaked_kinds(told(fleet, face), ALL) for face in faces} == {face: [] for face in faces}


def told(fleet, face: str) -> bytes:
    text = fleet.visor.run_checked(*face.split())
    assert text
    return text.encode()


def test_that_they_were_shown_is_told_by_their_masks(fleet, shown):
    text = fleet.visor.run_checked("export", str(shown["print"]), "--text")
    assert {one.kind for one in ALL if f"[redacted:{one.kind}]" in text} >= {one.kind for one in SECRETS}


def test_no_secret_is_in_the_database_its_index_or_a_log(fleet, shown):
    places = fleet.visor.paths
    wait_until(lambda: call_robot(fleet.visor, "health")["ingest_backlog_bytes"] == 0)
    files = [path for path in Path(places.data_dir).rglob("*") if path.is_file() and places.raw_dir not in str(path)]
    assert {"visor.db", "visor.db-wal", "daemon.log"} <= {path.name for path in files}
    assert {path.name: find_leaked_kinds(path.read_bytes(), ALL) for path in files} == {path.name: [] for path in files}


def test_the_nonce_of_a_shell_that_prints_it_stands_nowhere_but_in_its_file_and_the_raw_log(fleet, tmp_path):
    places = fleet.visor.paths
    seat = ShellPane(fleet, ShellHome(tmp_path, "bash").write_setup(places.nonce_file))
    seat.run_lines(
        "set | grep visor_tail",
        "declare -p __visor_tail | fold -w 30",
        f"cat {places.nonce_file}",
        f"printf '%s\\rthe nonce \\n' $(cat {places.nonce_file})",
    )
    text = Path(places.nonce_file).read_text().strip()
    nonce = [FakeSecret("shell_nonce", text, text)]
    assert find_leaked_kinds(seat.screen.encode(), nonce) and find_leaked_kinds(seat.raw_output, nonce)
    assert seat.activity["is_proven"]
    faces = [face.format(seat.pane_id) for face in FACES]
    assert {face: find_leaked_kinds(told(fleet, face), nonce) for face in faces} == {face: [] for face in faces}
    assert "[redacted:shell_nonce]" in fleet.visor.run_checked("get-text", str(seat.pane_id), "--tail", "100")
    wait_until(lambda: call_robot(fleet.visor, "health")["ingest_backlog_bytes"] == 0)
    own = (places.raw_dir, places.nonce_file)
    files = [path for path in Path(places.data_dir).rglob("*") if path.is_file() and not str(path).startswith(own)]
    assert {path.name: find_leaked_kinds(path.read_bytes(), nonce) for path in files} == {
        path.name: [] for path in files
    }
