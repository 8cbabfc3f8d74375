"""What becomes of jobs when the daemon, the recorder, tmux, their window or the disk fails."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from termvisor.testing.private_tmux import make_short_folder, run_private_tmux
from tests.live.conftest import run_compiled_instance
from tests.live.full_disk import mount_small_disk
from tests.live.jobs.job_scene import PLACES, JobScene, allow_jobs
from tests.live.polling import wait_until

COUNT = "for n in 1 2 3 4 5 6; do echo line $n; read -r x; done; exit 7"


live = pytest.mark.live
FULL_KILLS = [pytest.param(place, 5, marks=live) for place in PLACES]


@pytest.mark.parametrize(("place", "kills"), [("pty", 1), *FULL_KILLS])
def test_a_killed_daemon_loses_neither_output_nor_the_end(own_jobs, place, kills):
    job = own_jobs.run("--place", place, "--", "sh", "-c", COUNT)
    for _ in range(kills):
        assert own_jobs.wait(job)["state"] == "waiting_for_input"
        own_jobs.restart_killed_daemon()
        assert own_jobs.wait(job)["state"] == "waiting_for_input"
        assert own_jobs.send(job, "x")["status"] == "delivered"
    for _ in range(6 - kills):
        own_jobs.wait(job)
        assert own_jobs.send(job, "x")["status"] == "delivered"
    assert own_jobs.wait(job, "--ended")["code"] == 7
    assert own_jobs.harvest(job) == "".join(f"line {n}\nx\n" for n in range(1, 7))


@pytest.mark.parametrize("place", ["pty", pytest.param("tmux", marks=live)])
def test_a_job_that_ends_without_a_daemon_is_known_to_the_next_one(own_jobs, place):
    job = own_jobs.run("--place", place, "--", "sh", "-c", "sleep 1; printf done; exit 9")
    wait_until(lambda: own_jobs.status(job)["state"] == "running")
    pid = own_jobs.status(job)["pid"]
    own_jobs.visor.kill_daemon()
    wait_until(lambda: not Path(f"/proc/{pid}").exists())
    own_jobs.visor.start()
    assert own_jobs.wait(job, "--ended")["code"] == 9
    assert own_jobs.harvest_raw(job) == b"done"


@pytest.mark.parametrize("place", PLACES)
def test_a_killed_recorder_leaves_the_end_known(own_jobs, place):
    job = own_jobs.run("--place", place, "--", "sh", "-c", "echo before; read x; echo after; exit 3")
    own_jobs.wait(job)
    recorder = own_jobs.find_recorder()
    os.kill(recorder, signal.SIGKILL)
    wait_until(lambda: own_jobs.find_recorder() not in (0, recorder))
    wait_until(lambda: own_jobs.send(job, "x", "--force-stale").get("status") == "delivered")
    assert own_jobs.wait(job, "--ended")["code"] == 3
    assert own_jobs.harvest(job).startswith("before\n")


def test_a_closed_window_and_a_killed_server_end_jobs_by_hang_up(own_jobs):
    first, second = (own_jobs.run("--place", "tmux", "--", "sleep", "1000") for _ in range(2))
    socket = own_jobs.visor.paths.job_socket
    pane = own_jobs.status(first)["mux_pane"]
    subprocess.run(["tmux", "-S", socket, "kill-pane", "-t", pane], check=True)
    assert own_jobs.wait(first, "--ended")["signal"] == signal.SIGHUP
    subprocess.run(["tmux", "-S", socket, "kill-server"], check=True)
    assert own_jobs.wait(second, "--ended")["signal"] == signal.SIGHUP


def test_a_killed_wrapper_makes_the_job_lost(own_jobs):
    job = own_jobs.run("--place", "tmux", "--", "sleep", "1000")
    wait_until(lambda: own_jobs.status(job)["state"] == "running")
    os.kill(own_jobs.status(job)["pid"], signal.SIGKILL)
    lost = own_jobs.wait(job, "--ended")
    assert (lost["state"], lost["why"]) == ("lost", "wrapper_killed")


@pytest.mark.live
def test_a_full_disk_does_not_hide_how_a_job_ended():
    with (
        make_short_folder() as folder,
        mount_small_disk(f"{folder}/d", "64m") as disk,
        run_private_tmux(folder) as tmux,
        run_compiled_instance(folder, tmux.socket) as visor,
    ):
        allow_jobs(visor)
        visor.start()
        scene = JobScene(visor, tmux)
        job = scene.run("--place", "tmux", "--", "sh", "-c", "read x; exit 5")
        assert scene.wait(job)["state"] == "waiting_for_input"
        pid = scene.status(job)["pid"]
        disk.fill()
        subprocess.run(
            ["tmux", "-S", visor.paths.job_socket, "send-keys", "-t", scene_pane(visor), "Enter"], check=True
        )
        wait_until(lambda: not Path(f"/proc/{pid}").exists())
        disk.remove_ballast()
        assert scene.wait(job, "--ended")["code"] == 5


def scene_pane(visor) -> str:
    """Return the only pane of the private server."""
    words = ["tmux", "-S", visor.paths.job_socket, "list-panes", "-a", "-F", "#{pane_id}"]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()
