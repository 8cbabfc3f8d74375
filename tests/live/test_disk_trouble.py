"""A disk that takes nothing more: programs do not notice, the loss is one gap, it is told, and it heals by itself."""

import msgspec
import pytest

from termvisor.testing.instance import Instance, instance
from termvisor.testing.tmux import private_tmux, short_folder
from tests.live.conftest import Scene
from tests.live.disks import SmallDisk, nothing_writable, small_disk
from tests.live.waiting import until

COUNT = "i=0; while [ $i -lt {} ]; do echo lost-$i; i=$((i+1)); done; echo counted''-all"


def alerts(visor: Instance) -> str:
    return " ".join(visor.robot("health")["alerts"])


def doctor(visor: Instance) -> dict[str, str]:
    _, out, _ = visor.run("doctor", "--format", "json")
    return {check["name"]: check["status"] for check in msgspec.json.decode(out)["data"]["items"]}


def is_counted(scene: Scene, mux_id: str) -> bool:
    return "counted-all" in scene.tmux("capture-pane", "-p", "-t", mux_id).split("\n")


@pytest.fixture
def panes(scene) -> tuple[str, str]:
    """One that will print, and one that will be quiet."""
    busy, quiet = scene.tmux.start("busy"), scene.tmux.start("quiet")
    for mux_id in (busy, quiet):
        scene.heard(mux_id)
        scene.say(mux_id, "before-the-trouble")
    return busy, quiet


def the_gap(scene: Scene, mux_id: str) -> dict:
    (gap,) = scene.visor.robot("list-gaps", "--pane", str(scene.id_of(mux_id)))["items"]
    return gap


def test_when_nothing_can_be_written_the_program_goes_on_and_one_gap_tells_of_it(scene, panes):
    busy, quiet = panes
    pids = scene.visor.daemon_pid, scene.visor.recorder_pid
    with nothing_writable(*pids):
        scene.tmux.type(busy, COUNT.format(2000))
        until(lambda: is_counted(scene, busy))
        until(lambda: "cannot be stored" in alerts(scene.visor))
        appeared = scene.tmux.start("appeared")
        assert doctor(scene.visor)["database"] == "fail"
        assert scene.visor.robot("health")["db_writable"] is False
        assert "before-the-trouble" in scene.lines(busy)
    scene.heard(busy)
    for mux_id in (busy, quiet, appeared):
        scene.say(mux_id, "after-the-trouble")
    until(lambda: alerts(scene.visor) == "")
    assert (scene.visor.daemon_pid, scene.visor.recorder_pid) == pids
    assert scene.causes() == ["disk_full"]
    assert the_gap(scene, busy)["seconds"] > 0.1
    assert scene.lines(quiet).count("after-the-trouble") == 1


def test_a_daemon_that_can_write_nothing_can_still_be_stopped_and_the_next_one_goes_on(scene, panes):
    busy, _ = panes
    with nothing_writable(scene.visor.daemon_pid):
        scene.tmux.type(busy, COUNT.format(200))
        until(lambda: "cannot be stored" in alerts(scene.visor))
        scene.visor.visor("daemon", "stop", timeout=30)
    until(lambda: all(item["heard_by"] != "none" for item in scene.panes()))
    scene.say(busy, "after-the-trouble")
    assert [line for line in scene.lines(busy) if line == "counted-all"] == ["counted-all"]


@pytest.fixture
def disk():
    with short_folder() as folder, small_disk(f"{folder}/d", "12m") as one:
        yield one


@pytest.fixture
def small(disk):
    """A tmux that is being watched, whose history lies on a disk of twelve megabytes."""
    folder = disk.path.removesuffix("/d")
    with private_tmux(folder) as tmux, instance(folder, tmux.socket) as visor:
        yield Scene(tmux, visor)


@pytest.mark.live
def test_a_full_disk_is_one_gap_and_is_over_when_there_is_room_again(small: Scene, disk: SmallDisk):
    busy, quiet = small.tmux.start("busy"), small.tmux.start("quiet")
    for mux_id in (busy, quiet):
        small.heard(mux_id)
        small.say(mux_id, "before-the-trouble")
    disk.fill()
    small.tmux.type(busy, COUNT.format(20_000))
    until(lambda: is_counted(small, busy))
    until(lambda: "disk is full" in alerts(small.visor) or "No space left" in alerts(small.visor))
    assert doctor(small.visor)["disk"] == "fail"
    disk.empty()
    small.heard(busy)
    for mux_id in (busy, quiet):
        small.say(mux_id, "after-the-trouble")
    until(lambda: alerts(small.visor) == "")
    assert small.causes() == ["disk_full"]


@pytest.mark.live
def test_a_read_only_disk_is_named_and_all_goes_on_when_it_can_be_written(small: Scene, disk: SmallDisk):
    busy = small.tmux.start("busy")
    small.heard(busy)
    small.say(busy, "before-the-trouble")
    small.visor.kill_daemon()  # a file system with files open for writing cannot become read-only
    small.visor.run("down")
    disk.remount("ro")
    status, _, errors = small.visor.run("up")
    assert status == 69
    assert "Read-only file system" in errors
    disk.remount("rw")
    until(lambda: all(item["heard_by"] != "none" for item in small.panes()))
    small.say(busy, "after-the-trouble")
