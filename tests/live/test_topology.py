"""Panes that are split, moved or renamed keep their identity; a respawn or a new server is another instance."""

import os
import socket
from pathlib import Path

import pytest

from termvisor.testing.private_tmux import PrivateTmux, run_private_tmux
from termvisor.testing.visor_instance import VisorInstance
from tests.live.conftest import WatchedTmux, run_compiled_instance, run_watched_tmux
from tests.live.polling import wait_until
from tests.pattern_cache import install_pattern_cache

COUNT = "for i in $(seq 1 300); do echo count $i; sleep 0.01; done; echo all''-counted"


@pytest.fixture(scope="module")
def fleet():
    """One captured server for the whole file."""
    with run_watched_tmux() as scene:
        scene.tmux.start_session("keep", "sleep 1000")
        yield scene


def start_captured_session(scene: WatchedTmux, name: str) -> str:
    """Start a shell in its own session, wait until it is captured, and return tmux's pane id."""
    mux_id = scene.tmux.start_session(name)
    scene.wait_until_captured(mux_id)
    return mux_id


def find_pane(scene: WatchedTmux, pane_id: int) -> dict:
    return next(item for item in scene.list_panes() if item["identity"]["id"] == pane_id)


def is_gone(scene: WatchedTmux, pane_id: int) -> bool:
    return all(item["identity"]["id"] != pane_id for item in scene.list_panes())


def reap_children(tmux: PrivateTmux) -> bool:
    """Run a program: sometimes tmux 3.3a notices that a program ended only when another one ends."""
    return tmux("run-shell", "true") == ""


def test_a_closed_split_pane_stays_readable_by_its_number(fleet):
    first = start_captured_session(fleet, "splits")
    second = fleet.tmux("split-window", "-d", "-P", "-F", "#{pane_id}", "-t", first, "sh")
    pane_id = fleet.wait_until_captured(second)
    fleet.print_word(second, "said-before-it-went")
    fleet.tmux("kill-pane", "-t", second)
    wait_until(lambda: is_gone(fleet, pane_id))
    assert len(fleet.list_event_data(pane_id, "pane_appeared")) == len(fleet.list_event_data(pane_id, "pane_gone")) == 1
    assert "said-before-it-went" in fleet.visor.call_robot("get-text", str(pane_id))["text"]
    gone = fleet.visor.call_robot("state", "--gone", "--pane", str(pane_id))["items"]
    assert [item["gone_at"] is not None for item in gone] == [True]
    assert fleet.find_pane_id(first) is not None


def test_a_pane_moved_between_sessions_keeps_its_number_and_every_line_once(fleet):
    mux_id = start_captured_session(fleet, "from")
    pane_id = fleet.find_pane_id(mux_id)
    fleet.tmux("new-session", "-d", "-s", "to", "sleep 1000")
    fleet.tmux.type_line(mux_id, COUNT)
    moves = {
        "to": ("join-pane", "-d", "-s", mux_id, "-t", "=to:"),
        "away": ("break-pane", "-d", "-s", mux_id, "-t", "=keep:7", "-n", "away"),
        "back": ("move-window", "-d", "-s", "=keep:7", "-t", "=to:9"),
    }
    for count, move in enumerate(moves.values(), 1):
        fleet.tmux(*move)
        wait_until(lambda count=count: len(fleet.list_event_data(pane_id, "pane_moved")) == count)
    fleet.visor.call_robot("wait-for", str(pane_id), "all-counted")
    assert [line for line in fleet.read_lines(mux_id) if line.startswith("count ")] == [
        f"count {n}" for n in range(1, 301)
    ]
    assert [move["session"] for move in fleet.list_event_data(pane_id, "pane_moved")] == ["to", "keep", "to"]
    assert (fleet.find_pane_id(mux_id), fleet.list_pane_gap_causes(pane_id)) == (pane_id, [])


def test_a_respawned_pane_is_another_instance_and_its_new_program_is_captured(fleet):
    mux_id = start_captured_session(fleet, "respawns")
    pane_id = fleet.find_pane_id(mux_id)
    fleet.print_word(mux_id, "the-first-program")
    fleet.tmux("respawn-pane", "-k", "-t", mux_id, "echo the-second-program; exec sh")
    wait_until(lambda: fleet.find_pane_id(mux_id) != pane_id)
    new_id = fleet.wait_until_captured(mux_id)
    fleet.print_word(mux_id, "still-the-second")
    lines = fleet.read_lines(mux_id)
    assert [lines.count(word) for word in ("the-first-program", "still-the-second")] == [0, 1]
    assert sum(line.endswith("the-second-program") for line in lines) == 1
    assert fleet.list_event_data(new_id, "pane_respawned")[0]["previous"] == pane_id
    assert fleet.list_pane_gap_causes(new_id) == []
    assert "the-first-program" in fleet.visor.call_robot("get-text", str(pane_id))["text"]


@pytest.mark.parametrize(
    ("name", "end", "status", "signal"), [("exits", "exit 3", 3, None), ("killed", "kill -9 $$", None, 9)]
)
def test_a_dead_pane_reports_its_exit_and_is_captured_after_a_respawn(fleet, name, end, status, signal):
    mux_id = start_captured_session(fleet, name)
    pane_id = fleet.find_pane_id(mux_id)
    fleet.tmux("set", "-w", "-t", mux_id, "remain-on-exit", "on")
    fleet.tmux.type_line(mux_id, end)
    wait_until(
        lambda: (
            reap_children(fleet.tmux)
            and fleet.list_event_data(pane_id, "pane_died") == [{"status": status, "signal": signal}]
        )
    )
    dead = find_pane(fleet, pane_id)
    assert (dead["is_dead"], dead["exit_status"], dead["exit_signal"]) == (True, status, signal)
    fleet.tmux("respawn-pane", "-t", mux_id, "sh")
    wait_until(lambda: fleet.find_pane_id(mux_id) != pane_id)
    new_id = fleet.wait_until_captured(mux_id)
    fleet.print_word(mux_id, "back-to-life")
    assert not find_pane(fleet, new_id)["is_dead"]


def test_renamed_sessions_and_windows_are_events_and_resolve_by_their_new_names(fleet):
    mux_id = start_captured_session(fleet, "before")
    pane_id = fleet.find_pane_id(mux_id)
    fleet.print_word(mux_id, "under-the-old-name")
    fleet.tmux("rename-session", "-t", "=before", "after")
    fleet.tmux("rename-window", "-t", mux_id, "kitchen")
    wait_until(lambda: {"session": "after", "window": "kitchen"} in fleet.list_event_data(pane_id, "pane_renamed"))
    for reference in ("after", "after:kitchen", "after:kitchen.0", f"pane:local/after/kitchen/{mux_id}"):
        assert fleet.visor.call_robot("get-text", reference)["identity"]["id"] == pane_id
    status, _, errors = fleet.visor.run("get-text", "before")
    assert (status, errors.splitlines()[0]) == (4, "visor: pane 'before' not found")


def test_a_window_linked_into_two_sessions_is_one_pane(fleet):
    mux_id = start_captured_session(fleet, "linked")
    pane_id = fleet.find_pane_id(mux_id)
    fleet.tmux("link-window", "-d", "-s", "=linked:0", "-t", "=keep:5")
    fleet.print_word(mux_id, "said-once-only")
    assert [item["identity"]["id"] for item in fleet.list_panes()].count(pane_id) == 1
    assert fleet.read_lines(mux_id).count("said-once-only") == 1
    fleet.tmux("unlink-window", "-t", "=linked:0")
    fleet.print_word(mux_id, "said-in-the-other")
    assert (fleet.find_pane_id(mux_id), fleet.list_pane_gap_causes(pane_id)) == (pane_id, [])


def build_discovering_instance(folder: str) -> VisorInstance:
    """Build an instance without configured sockets that discovers servers in its own tmux folder."""
    one = VisorInstance(folder, [])
    one.env = {**{k: v for k, v in one.env.items() if k != "VISOR_TMUX_SOCKETS"}, "TMUX_TMPDIR": folder}
    return one


@pytest.fixture
def discovering_instance(folder):
    """A discovering instance and its tmux folder."""
    sockets = Path(folder, f"tmux-{os.getuid()}")
    sockets.mkdir(mode=0o700)
    one = build_discovering_instance(folder)
    install_pattern_cache(one.paths)
    yield one, sockets
    one.stop()


def create_stale_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(path))


def test_all_servers_in_the_tmux_folder_are_found_and_other_files_left_alone(discovering_instance):
    visor, sockets = discovering_instance
    create_stale_socket(sockets / "stale")
    (sockets / "notes.txt").write_text("not a socket")
    with run_private_tmux(str(sockets), "default") as one, run_private_tmux(str(sockets), "work") as other:
        scenes = [WatchedTmux(one, visor), WatchedTmux(other, visor)]
        ids = [scene.wait_until_captured(scene.tmux.start_session()) for scene in scenes]
        for scene, word in zip(scenes, ("from-the-one", "from-the-other"), strict=True):
            scene.print_word("%0", word)
        hits = visor.call_robot("search", "from")["items"]
        assert {hit["identity"]["id"] for hit in hits} == set(ids)
        assert visor.run("get-text", "%0")[0] == 4
        with run_private_tmux(str(sockets), "late") as late:
            assert WatchedTmux(late, visor).wait_until_captured(late.start_session()) not in ids
        watched = {server["socket"] for server in visor.call_robot("health")["servers"]}
    assert {str(sockets / name) for name in ("default", "work")} <= watched
    assert not PrivateTmux(str(sockets / "stale")).is_running
    assert (sockets / "notes.txt").read_text() == "not a socket"


def test_a_restarted_server_has_new_panes_and_another_server_is_unaffected(folder):
    with (
        run_private_tmux(folder, "a") as first,
        run_private_tmux(folder, "b") as second,
        run_compiled_instance(folder, first.socket, second.socket) as visor,
    ):
        steady, restarted = WatchedTmux(first, visor), WatchedTmux(second, visor)
        kept, old = (
            steady.wait_until_captured(first.start_session()),
            restarted.wait_until_captured(second.start_session()),
        )
        restarted.print_word("%0", "of-the-old-server")
        pid = int(second("display-message", "-p", "#{pid}"))
        second.kill_server()
        wait_until(lambda: not os.path.exists(f"/proc/{pid}"))
        new = second.start_session()
        wait_until(lambda: restarted.find_pane_id(new) not in (None, old))
        pane_id = restarted.wait_until_captured(new)
        restarted.print_word(new, "of-the-new-server")
        assert new == "%0"
        assert "of-the-old-server" not in restarted.read_lines(new)
        assert "of-the-old-server" in visor.call_robot("get-text", str(old))["text"]
        assert (restarted.list_pane_gap_causes(old), restarted.list_pane_gap_causes(pane_id)) == (["server_gone"], [])
        assert (steady.find_pane_id("%0"), steady.list_pane_gap_causes(kept)) == (kept, [])
