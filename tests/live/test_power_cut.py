"""The power fails: every process dies at once and the ends of files are lost. What is left is whole; all goes on."""

import os
import signal
from pathlib import Path

from tests.live.numbered_printer import NumberedPrinter, count_recorded_bytes
from tests.live.polling import wait_until

ZEROS = b"\0" * 4096


def cut(path: Path, lost: int, tail: bytes) -> None:
    """The last bytes never reached the disk; some file systems show zeros in their place."""
    size = path.stat().st_size
    os.truncate(path, max(0, size - lost))
    with path.open("ab") as file:
        file.write(tail)


def test_after_a_power_cut_what_was_stored_is_whole_and_everything_goes_on(folder, scene):
    printer = NumberedPrinter(folder, "alpha", 5)
    pane = scene.wait_until_captured(scene.tmux.start_session(command=printer.command))
    printer.release()
    wait_until(lambda: count_recorded_bytes(scene.visor.paths.raw_dir) > 300_000)
    wait_until(lambda: any(line.startswith("alpha line") for line in scene.read_lines("%0")))
    server = int(scene.tmux("display-message", "-p", "#{pid}"))
    for pid in (scene.visor.daemon_pid, scene.visor.recorder_pid, server):
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not Path(f"/proc/{server}").exists())
    data = Path(scene.visor.paths.data_dir)
    newest = max(data.rglob("*.raw"), key=lambda path: path.stat().st_mtime_ns)
    for path, lost in ((newest, 100_000), (newest.with_suffix(".idx"), 2000), (data / "visor.db-wal", 100_000)):
        cut(path, lost, ZEROS)
    again = scene.tmux.start_session("again")
    scene.wait_until_captured(again)
    scene.print_word(again, "after-the-power-cut")
    _, told, _ = scene.visor.run("doctor")
    assert f"ok    database       {data}/visor.db is intact" in told
    numbers = [int(line.split()[2]) for line in exported(scene, pane)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) > 100
    assert set(scene.list_pane_gap_causes(pane)) <= {
        "recorder_restart",
        "server_gone",
        "log_truncated",
        "tail_uncertain",
    }
    assert scene.list_pane_gap_causes(pane)


def exported(scene, pane: int) -> list[str]:
    """The numbered lines that are kept of it; the last may be torn."""
    lines = scene.visor.run_checked("export", str(pane), "--text").splitlines()
    return [line for line in lines if line.startswith("alpha line") and line.endswith("dog")]
