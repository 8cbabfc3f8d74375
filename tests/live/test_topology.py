"""Panes split, move, are renamed, die and come back; servers come and go. Each pane stays the pane it is."""

import os
import socket
from pathlib import Path

import pytest

from termvisor.testing.instance import Instance
from termvisor.testing.tmux import PrivateTmux, private_tmux
from tests.compiled import lend
from tests.live.conftest import Scene, second_start, watched_tmux
from tests.live.waiting import until

COUNT = "for i in $(seq 1 300); do echo count $i; sleep 0.01; done; echo all''-counted"


@pytest.fixture(scope="module")
def fleet():
    """One watched server for the whole file."""
    with watched_tmux() as scene:
        scene.tmux.start("keep", "sleep 1000")
        yield scene


def session(scene: Scene, name: str) -> str:
    """A shell in a session of its own that is being heard; tmux's id of it."""
    mux_id = scene.tmux.start(name)
    scene.heard(mux_id)
    return mux_id


def pane(scene: Scene, ours: int) -> dict:
    return next(item for item in scene.panes() if item["identity"]["id"] == ours)


def is_gone(scene: Scene, ours: int) -> bool:
    return all(item["identity"]["id"] != ours for item in scene.panes())


def reaped(tmux: PrivateTmux) -> bool:
    """One in eight times tmux 3.3a does not notice that a program ended until it sees another one end."""
    return tmux("run-shell", "true") == ""


def test_panes_come_split_and_go_and_are_still_readable_by_their_number(fleet):
    first = session(fleet, "splits")
    second = fleet.tmux("split-window", "-d", "-P", "-F", "#{pane_id}", "-t", first, "sh")
    ours = fleet.heard(second)
    fleet.say(second, "said-before-it-went")
    fleet.tmux("kill-pane", "-t", second)
    until(lambda: is_gone(fleet, ours))
    assert len(fleet.told(ours, "pane_appeared")) == len(fleet.told(ours, "pane_gone")) == 1
    assert "said-before-it-went" in fleet.visor.robot("get-text", str(ours))["text"]
    gone = fleet.visor.robot("state", "--gone", "--pane", str(ours))["items"]
    assert [item["gone_at"] is not None for item in gone] == [True]
    assert fleet.id_of(first) is not None


def test_a_pane_that_wanders_through_sessions_stays_itself_and_says_every_line_once(fleet):
    mux_id = session(fleet, "from")
    ours = fleet.id_of(mux_id)
    fleet.tmux("new-session", "-d", "-s", "to", "sleep 1000")
    fleet.tmux.type(mux_id, COUNT)
    moves = {
        "to": ("join-pane", "-d", "-s", mux_id, "-t", "=to:"),
        "away": ("break-pane", "-d", "-s", mux_id, "-t", "=keep:7", "-n", "away"),
        "back": ("move-window", "-d", "-s", "=keep:7", "-t", "=to:9"),
    }
    for count, move in enumerate(moves.values(), 1):
        fleet.tmux(*move)
        until(lambda count=count: len(fleet.told(ours, "pane_moved")) == count)
    fleet.visor.robot("wait-for", str(ours), "all-counted")
    assert [line for line in fleet.lines(mux_id) if line.startswith("count ")] == [f"count {n}" for n in range(1, 301)]
    assert [move["session"] for move in fleet.told(ours, "pane_moved")] == ["to", "keep", "to"]
    assert (fleet.id_of(mux_id), fleet.gaps(ours)) == (ours, [])


def test_a_respawned_pane_is_the_same_pane_and_its_new_program_is_heard(fleet):
    mux_id = session(fleet, "respawns")
    ours = fleet.id_of(mux_id)
    fleet.say(mux_id, "the-first-program")
    fleet.tmux("respawn-pane", "-k", "-t", mux_id, "echo the-second-program; exec sh")
    until(lambda: fleet.told(ours, "pane_respawned"))
    fleet.say(mux_id, "still-the-second")
    lines = fleet.lines(mux_id)
    assert [lines.count(word) for word in ("the-first-program", "still-the-second")] == [1, 1]
    assert sum(line.endswith("the-second-program") for line in lines) == 1
    assert (fleet.id_of(mux_id), fleet.gaps(ours)) == (ours, [])


@pytest.mark.parametrize(
    ("name", "end", "status", "signal"), [("exits", "exit 3", 3, None), ("killed", "kill -9 $$", None, 9)]
)
def test_a_pane_that_dies_says_how_and_is_heard_when_it_comes_back(fleet, name, end, status, signal):
    mux_id = session(fleet, name)
    ours = fleet.id_of(mux_id)
    fleet.tmux("set", "-w", "-t", mux_id, "remain-on-exit", "on")
    fleet.tmux.type(mux_id, end)
    until(lambda: reaped(fleet.tmux) and fleet.told(ours, "pane_died") == [{"status": status, "signal": signal}])
    dead = pane(fleet, ours)
    assert (dead["is_dead"], dead["exit_status"], dead["exit_signal"]) == (True, status, signal)
    fleet.tmux("respawn-pane", "-t", mux_id, "sh")
    until(lambda: fleet.told(ours, "pane_respawned"))
    assert fleet.heard(mux_id) == ours
    fleet.say(mux_id, "back-to-life")
    assert not pane(fleet, ours)["is_dead"]


def test_renamed_sessions_and_windows_are_told_and_found_by_their_new_names(fleet):
    mux_id = session(fleet, "before")
    ours = fleet.id_of(mux_id)
    fleet.say(mux_id, "under-the-old-name")
    fleet.tmux("rename-session", "-t", "=before", "after")
    fleet.tmux("rename-window", "-t", mux_id, "kitchen")
    until(lambda: {"session": "after", "window": "kitchen"} in fleet.told(ours, "pane_renamed"))
    for reference in ("after", "after:kitchen", "after:kitchen.0", f"pane:local/after/kitchen/{mux_id}"):
        assert fleet.visor.robot("get-text", reference)["identity"]["id"] == ours
    status, _, errors = fleet.visor.run("get-text", "before")
    assert (status, errors.splitlines()[0]) == (4, "visor: no pane is called 'before'")


def test_a_window_linked_into_two_sessions_is_one_pane(fleet):
    mux_id = session(fleet, "linked")
    ours = fleet.id_of(mux_id)
    fleet.tmux("link-window", "-d", "-s", "=linked:0", "-t", "=keep:5")
    fleet.say(mux_id, "said-once-only")
    assert [item["identity"]["id"] for item in fleet.panes()].count(ours) == 1
    assert fleet.lines(mux_id).count("said-once-only") == 1
    fleet.tmux("unlink-window", "-t", "=linked:0")
    fleet.say(mux_id, "said-in-the-other")
    assert (fleet.id_of(mux_id), fleet.gaps(ours)) == (ours, [])


def discovering(folder: str) -> Instance:
    """A Termvisor that is told of no socket and looks into a tmux folder of its own."""
    one = Instance(folder, [])
    one.env = {**{k: v for k, v in one.env.items() if k != "VISOR_TMUX_SOCKETS"}, "TMUX_TMPDIR": folder}
    return one


@pytest.fixture
def found(folder):
    """A discovering Termvisor, and the folder in which it looks."""
    sockets = Path(folder, f"tmux-{os.getuid()}")
    sockets.mkdir(mode=0o700)
    one = discovering(folder)
    lend(one.places)
    yield one, sockets
    one.down()


def stale_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(path))


def test_all_servers_in_the_users_folder_are_found_and_what_else_lies_there_is_left_alone(found):
    visor, sockets = found
    stale_socket(sockets / "stale")
    (sockets / "notes.txt").write_text("not a socket")
    with private_tmux(str(sockets), "default") as one, private_tmux(str(sockets), "work") as other:
        scenes = [Scene(one, visor), Scene(other, visor)]
        ids = [scene.heard(scene.tmux.start()) for scene in scenes]
        for scene, word in zip(scenes, ("from-the-one", "from-the-other"), strict=True):
            scene.say("%0", word)
        hits = visor.robot("search", "from")["items"]
        assert {hit["identity"]["id"] for hit in hits} == set(ids)
        assert visor.run("get-text", "%0")[0] == 4
        with private_tmux(str(sockets), "late") as late:
            assert Scene(late, visor).heard(late.start()) not in ids
        watched = {server["socket"] for server in visor.robot("health")["servers"]}
    assert {str(sockets / name) for name in ("default", "work")} <= watched
    assert not PrivateTmux(str(sockets / "stale")).is_running
    assert (sockets / "notes.txt").read_text() == "not a socket"


def test_a_server_that_was_killed_and_started_again_has_new_panes_beside_an_untouched_one(folder):
    with (
        private_tmux(folder, "a") as first,
        private_tmux(folder, "b") as second,
        second_start(folder, first.socket, second.socket) as visor,
    ):
        steady, restarted = Scene(first, visor), Scene(second, visor)
        kept, old = steady.heard(first.start()), restarted.heard(second.start())
        restarted.say("%0", "of-the-old-server")
        pid = int(second("display-message", "-p", "#{pid}"))
        second.kill()
        until(lambda: not os.path.exists(f"/proc/{pid}"))
        new = second.start()
        until(lambda: restarted.id_of(new) not in (None, old))
        ours = restarted.heard(new)
        restarted.say(new, "of-the-new-server")
        assert new == "%0"
        assert "of-the-old-server" not in restarted.lines(new)
        assert "of-the-old-server" in visor.robot("get-text", str(old))["text"]
        assert (restarted.gaps(old), restarted.gaps(ours)) == (["server_gone"], [])
        assert (steady.id_of("%0"), steady.gaps(kept)) == (kept, [])
