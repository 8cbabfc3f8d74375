"""A disk that takes nothing more: programs do not notice, the loss is one gap, it is told, and it heals by itself."""

import msgspec
import pytest

from termvisor.testing.private_tmux import make_short_folder, run_private_tmux
from termvisor.testing.visor_instance import VisorInstance, run_instance
from tests.live.conftest import WatchedTmux
from tests.live.full_disk import SmallDisk, block_file_growth, mount_small_disk
from tests.live.polling import wait_until

COUNT = "i=0; while [ $i -lt {} ]; do echo lost-$i; i=$((i+1)); done; echo counted''-all"


def alerts(visor: VisorInstance) -> str:
    return " ".join(visor.call_robot("health")["alerts"])


def doctor(visor: VisorInstance) -> dict[str, str]:
    _, out, _ = visor.run("doctor", "--format", "json")
    return {check["name"]: check["status"] for check in msgspec.json.decode(out)["data"]["items"]}


def is_counted(scene: WatchedTmux, mux_id: str) -> bool:
    return "counted-all" in scene.tmux("capture-pane", "-p", "-t", mux_id).split("\n")


@pytest.fixture
def panes(scene) -> tuple[str, str]:
    """One that will print, and one that will be quiet."""
    busy, quiet = scene.tmux.start_session("busy"), scene.tmux.start_session("quiet")
    for mux_id in (busy, quiet):
        scene.wait_until_captured(mux_id)
        scene.print_word(mux_id, "before-the-trouble")
    return busy, quiet


def the_gap(scene: WatchedTmux, mux_id: str) -> dict:
    (gap,) = scene.visor.call_robot("list-gaps", "--pane", str(scene.find_pane_id(mux_id)))["items"]
    return gap


def test_when_nothing_can_be_written_the_program_goes_on_and_one_gap_tells_of_it(scene, panes):
    busy, quiet = panes
    pids = scene.visor.daemon_pid, scene.visor.recorder_pid
    with block_file_growth(*pids):
        scene.tmux.type_line(busy, COUNT.format(2000))
        wait_until(lambda: is_counted(scene, busy))
        wait_until(lambda: "cannot be stored" in alerts(scene.visor))
        appeared = scene.tmux.start_session("appeared")
        assert doctor(scene.visor)["database"] == "fail"
        assert scene.visor.call_robot("health")["db_writable"] is False
        assert "before-the-trouble" in scene.read_lines(busy)
    scene.wait_until_captured(busy)
    for mux_id in (busy, quiet, appeared):
        scene.print_word(mux_id, "after-the-trouble")
    wait_until(lambda: alerts(scene.visor) == "")
    assert (scene.visor.daemon_pid, scene.visor.recorder_pid) == pids
    assert scene.list_gap_causes() == ["disk_full"]
    assert the_gap(scene, busy)["seconds"] > 0.1
    assert scene.read_lines(quiet).count("after-the-trouble") == 1


def test_a_daemon_that_can_write_nothing_can_still_be_stopped_and_the_next_one_goes_on(scene, panes):
    busy, _ = panes
    with block_file_growth(scene.visor.daemon_pid):
        scene.tmux.type_line(busy, COUNT.format(200))
        wait_until(lambda: "cannot be stored" in alerts(scene.visor))
        scene.visor.run_checked("daemon", "stop", timeout=30)
    wait_until(lambda: all(item["heard_by"] != "none" for item in scene.list_panes()))
    scene.print_word(busy, "after-the-trouble")
    assert [line for line in scene.read_lines(busy) if line == "counted-all"] == ["counted-all"]


@pytest.fixture
def disk():
    with make_short_folder() as folder, mount_small_disk(f"{folder}/d", "12m") as one:
        yield one


@pytest.fixture
def small(disk):
    """A tmux that is being watched, whose history lies on a disk of twelve megabytes."""
    folder = disk.path.removesuffix("/d")
    with run_private_tmux(folder) as tmux, run_instance(folder, tmux.socket) as visor:
        yield WatchedTmux(tmux, visor)


@pytest.mark.live
def test_a_full_disk_is_one_gap_and_is_over_when_there_is_room_again(small: WatchedTmux, disk: SmallDisk):
    busy, quiet = small.tmux.start_session("busy"), small.tmux.start_session("quiet")
    for mux_id in (busy, quiet):
        small.wait_until_captured(mux_id)
        small.print_word(mux_id, "before-the-trouble")
    disk.fill()
    small.tmux.type_line(busy, COUNT.format(20_000))
    wait_until(lambda: is_counted(small, busy))
    wait_until(lambda: "disk is full" in alerts(small.visor) or "No space left" in alerts(small.visor))
    assert doctor(small.visor)["disk"] == "fail"
    disk.remove_ballast()
    small.wait_until_captured(busy)
    for mux_id in (busy, quiet):
        small.print_word(mux_id, "after-the-trouble")
    wait_until(lambda: alerts(small.visor) == "")
    assert small.list_gap_causes() == ["disk_full"]


@pytest.mark.live
def test_a_read_only_disk_is_named_and_all_goes_on_when_it_can_be_written(small: WatchedTmux, disk: SmallDisk):
    busy = small.tmux.start_session("busy")
    small.wait_until_captured(busy)
    small.print_word(busy, "before-the-trouble")
    small.visor.kill_daemon()  # a file system with files open for writing cannot become read-only
    small.visor.run("down")
    disk.remount("ro")
    status, _, errors = small.visor.run("up")
    assert status == 69
    assert "Read-only file system" in errors
    disk.remount("rw")
    wait_until(lambda: all(item["heard_by"] != "none" for item in small.list_panes()))
    small.print_word(busy, "after-the-trouble")
