"""Fifty kinds of secrets, shown in nine ways: none is in the database, its index, a log, a face or an export."""

from pathlib import Path

import pytest

from termvisor.testing.tmux import short_folder
from tests.live.conftest import watched_tmux
from tests.live.looking import look
from tests.live.planting import WAYS, Planted, in_forms, leaked, planted, show
from tests.live.set_up import Home, Seat
from tests.live.waiting import until

SECRETS, FORMS = planted(), in_forms()
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
    with watched_tmux() as scene:
        scene.tmux.start("keep", "sleep 1000")
        yield scene


@pytest.fixture(scope="module")
def shown(fleet) -> dict[str, int]:
    """A narrow pane a way, each of which showed all secrets; our numbers of them."""
    with short_folder() as folder:
        panes = {way: fleet.tmux.start(way, "sh", width=NARROW, height=40) for way in WAYS}
        panes["typed"] = fleet.tmux.start("typed", "bash --norc --noprofile", width=NARROW, height=40)
        ours = {way: fleet.heard(mux_id) for way, mux_id in panes.items()}
        for way in WAYS:
            forms = FORMS if way == "print" else []
            fleet.tmux.type(panes[way], show(folder, way, SECRETS + forms))
        for one in SECRETS:
            fleet.tmux.type(panes["typed"], f": {one.text}")
        fleet.tmux.type(panes["typed"], "echo way-typed''-is-done")
        for way, number in ours.items():
            fleet.visor.robot("wait-for", str(number), f"^way-{way}-is-done$", "--regex", "--timeout-secs", "40")
    return ours


@pytest.mark.parametrize("way", [*WAYS, "typed"])
def test_no_face_of_a_pane_shows_a_secret(fleet, shown, way):
    asked = FACES if way == "print" else TELLING
    faces = [face.format(shown[way]) for face in asked if "{}" in face]
    assert {face: leaked(told(fleet, face), ALL) for face in faces} == {face: [] for face in faces}


def test_no_face_of_the_whole_shows_a_secret(fleet, shown):
    faces = [face for face in FACES if "{}" not in face]
    assert {face: leaked(told(fleet, face), ALL) for face in faces} == {face: [] for face in faces}


def told(fleet, face: str) -> bytes:
    text = fleet.visor.visor(*face.split())
    assert text
    return text.encode()


def test_that_they_were_shown_is_told_by_their_masks(fleet, shown):
    text = fleet.visor.visor("export", str(shown["print"]), "--text")
    assert {one.kind for one in ALL if f"[redacted:{one.kind}]" in text} >= {one.kind for one in SECRETS}


def test_no_secret_is_in_the_database_its_index_or_a_log(fleet, shown):
    places = fleet.visor.places
    until(lambda: look(fleet.visor, "health")["ingest_backlog_bytes"] == 0)
    files = [path for path in Path(places.data_dir).rglob("*") if path.is_file() and places.raw_dir not in str(path)]
    assert {"visor.db", "visor.db-wal", "daemon.log"} <= {path.name for path in files}
    assert {path.name: leaked(path.read_bytes(), ALL) for path in files} == {path.name: [] for path in files}


def test_the_nonce_of_a_shell_that_prints_it_stands_nowhere_but_in_its_file_and_the_raw_log(fleet, tmp_path):
    places = fleet.visor.places
    seat = Seat(fleet, Home(tmp_path, "bash").given(places.nonce_file))
    seat.run(
        "set | grep visor_tail",
        "declare -p __visor_tail | fold -w 30",
        f"cat {places.nonce_file}",
        f"printf '%s\\rthe nonce \\n' $(cat {places.nonce_file})",
    )
    text = Path(places.nonce_file).read_text().strip()
    nonce = [Planted("shell_nonce", text, text)]
    assert leaked(seat.screen.encode(), nonce) and leaked(seat.raw, nonce)
    assert seat.activity["is_proven"]
    faces = [face.format(seat.ours) for face in FACES]
    assert {face: leaked(told(fleet, face), nonce) for face in faces} == {face: [] for face in faces}
    assert "[redacted:shell_nonce]" in fleet.visor.visor("get-text", str(seat.ours), "--tail", "100")
    until(lambda: look(fleet.visor, "health")["ingest_backlog_bytes"] == 0)
    own = (places.raw_dir, places.nonce_file)
    files = [path for path in Path(places.data_dir).rglob("*") if path.is_file() and not str(path).startswith(own)]
    assert {path.name: leaked(path.read_bytes(), nonce) for path in files} == {path.name: [] for path in files}
