"""A disk that cannot be written: programs continue, the loss is one reported gap, and capture recovers by itself."""

import msgspec
import pytest

from termvisor.testing.private_tmux import make_short_folder, run_private_tmux
from termvisor.testing.visor_instance import VisorInstance, run_instance
from tests.live.conftest import WatchedTmux
from tests.live.full_disk import SmallDisk, block_file_growth, mount_small_disk
from tests.live.polling import wait_until

COUNT = "i=0; while [ $i -lt {} ]; do echo lost-$i; i=$((i+1)); done; echo counted''-all"


def read_alerts(visor: VisorInstance) -> str:
    return " ".join(visor.call_robot("health")["alerts"])


def run_doctor(visor: VisorInstance) -> dict[str, str]:
    _, out, _ = visor.run("doctor", "--format", "json")
    return {check["name"]: check["status"] for check in msgspec.json.decode(out)["data"]["items"]}


def is_counted(scene: WatchedTmux, mux_id: str) -> bool:
    return "counted-all" in scene.tmux("capture-pane", "-p", "-t", mux_id).split("\n")


@pytest.fixture
def panes(scene) -> tuple[str, str]:
    """A pane that prints during the failure and a pane that does not."""
    busy, quiet = scene.tmux.start_session("busy"), scene.tmux.start_session("quiet")
    for mux_id in (busy, quiet):
        scene.wait_until_captured(mux_id)
        scene.print_word(mux_id, "before-the-trouble")
    return busy, quiet


def read_only_gap(scene: WatchedTmux, mux_id: str) -> dict:
    (gap,) = scene.visor.call_robot("list-gaps", "--pane", str(scene.find_pane_id(mux_id)))["items"]
    return gap


def test_a_failing_disk_does_not_block_the_program_and_is_one_gap(scene, panes):
    busy, quiet = panes
    pids = scene.visor.daemon_pid, scene.visor.recorder_pid
    with block_file_growth(*pids):
        scene.tmux.type_line(busy, COUNT.format(2000))
        wait_until(lambda: is_counted(scene, busy))
        wait_until(lambda: "cannot be stored" in read_alerts(scene.visor))
        appeared = scene.tmux.start_session("appeared")
        assert run_doctor(scene.visor)["database"] == "fail"
        assert scene.visor.call_robot("health")["db_writable"] is False
        assert "before-the-trouble" in scene.read_lines(busy)
    scene.wait_until_captured(busy)
    for mux_id in (busy, quiet, appeared):
        scene.print_word(mux_id, "after-the-trouble")
    wait_until(lambda: read_alerts(scene.visor) == "")
    assert (scene.visor.daemon_pid, scene.visor.recorder_pid) == pids
    assert scene.list_gap_causes() == ["disk_full"]
    assert read_only_gap(scene, busy)["seconds"] > 0.1
    assert scene.read_lines(quiet).count("after-the-trouble") == 1


def test_a_daemon_that_cannot_write_can_be_stopped_and_the_next_one_continues(scene, panes):
    busy, _ = panes
    with block_file_growth(scene.visor.daemon_pid):
        scene.tmux.type_line(busy, COUNT.format(200))
        wait_until(lambda: "cannot be stored" in read_alerts(scene.visor))
        scene.visor.run_checked("daemon", "stop", timeout=30)
    wait_until(lambda: all(item["heard_by"] != "none" for item in scene.list_panes()))
    scene.print_word(busy, "after-the-trouble")
    assert [line for line in scene.read_lines(busy) if line == "counted-all"] == ["counted-all"]


@pytest.fixture
def disk():
    with make_short_folder() as folder, mount_small_disk(f"{folder}/d", "12m") as one:
        yield one


@pytest.fixture
def small_disk_scene(disk):
    """A captured tmux whose data is on a disk of twelve megabytes."""
    folder = disk.path.removesuffix("/d")
    with run_private_tmux(folder) as tmux, run_instance(folder, tmux.socket) as visor:
        yield WatchedTmux(tmux, visor)


@pytest.mark.live
def test_a_full_disk_is_one_gap_that_ends_when_there_is_space_again(small_disk_scene: WatchedTmux, disk: SmallDisk):
    busy, quiet = small_disk_scene.tmux.start_session("busy"), small_disk_scene.tmux.start_session("quiet")
    for mux_id in (busy, quiet):
        small_disk_scene.wait_until_captured(mux_id)
        small_disk_scene.print_word(mux_id, "before-the-trouble")
    disk.fill()
    small_disk_scene.tmux.type_line(busy, COUNT.format(20_000))
    wait_until(lambda: is_counted(small_disk_scene, busy))
    wait_until(
        lambda: (
            "disk is full" in read_alerts(small_disk_scene.visor)
            or "No space left" in read_alerts(small_disk_scene.visor)
        )
    )
    assert run_doctor(small_disk_scene.visor)["disk"] == "fail"
    disk.remove_ballast()
    small_disk_scene.wait_until_captured(busy)
    for mux_id in (busy, quiet):
        small_disk_scene.print_word(mux_id, "after-the-trouble")
    wait_until(lambda: read_alerts(small_disk_scene.visor) == "")
    assert small_disk_scene.list_gap_causes() == ["disk_full"]


@pytest.mark.live
def test_a_read_only_disk_is_reported_and_capture_resumes_when_it_is_writable(
    small_disk_scene: WatchedTmux, disk: SmallDisk
):
    busy = small_disk_scene.tmux.start_session("busy")
    small_disk_scene.wait_until_captured(busy)
    small_disk_scene.print_word(busy, "before-the-trouble")
    small_disk_scene.visor.kill_daemon()  # a file system with files open for writing cannot become read-only
    small_disk_scene.visor.run("down")
    disk.remount("ro")
    status, _, errors = small_disk_scene.visor.run("up")
    assert status == 69
    assert "Read-only file system" in errors
    disk.remount("rw")
    wait_until(lambda: all(item["heard_by"] != "none" for item in small_disk_scene.list_panes()))
    small_disk_scene.print_word(busy, "after-the-trouble")
