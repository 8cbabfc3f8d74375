"""Panes without tmux: spawned with `--pty`, used by the same operations, kept through the death of every process."""

import glob
import hashlib
import os
import pty
import shlex
import signal
import sys

import pytest

from termvisor.client import daemon_process
from termvisor.testing.leftover_processes import kill_processes_of
from termvisor.testing.private_tmux import make_short_folder
from tests.live.conftest import run_compiled_instance
from tests.live.numbered_printer import NumberedPrinter, read_raw_log
from tests.live.polling import wait_until
from tests.live.robot_shells import allow_robots


class OwnPtys:
    """A Termvisor instance without any tmux server; programs it starts are found by their environment."""

    def __init__(self, visor, folder: str):
        self.visor, self.folder, self._count = visor, folder, 0

    def spawn(self, script: str) -> int:
        """Run a shell script in an own PTY; the policy lets programs start only plain program names."""
        self._count += 1
        path = f"{self.folder}/program{self._count}"
        with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o700), "w") as file:
            file.write(f"#!/bin/sh\n{script}\n")
        return self.visor.call_robot("spawn", "--pty", "--env", f"TEST_FOLDER={self.folder}", "--", path)["new"]["id"]

    def spawn_shell(self) -> int:
        pane = self.spawn("PS1='ready> ' exec bash --norc --noprofile -i")
        self.wait_for(pane, "ready>")
        return pane

    def kill_daemon(self) -> None:
        pid = self.visor.daemon_pid
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not os.path.exists(f"/proc/{pid}"))

    def wait_for(self, pane: int, text: str) -> None:
        self.visor.call_robot("wait-for", str(pane), text, "--timeout-secs", "30")

    def type_line(self, pane: int, text: str) -> None:
        """Type a command as a person does, who sees that the shell is at its prompt."""
        self.visor.run_at_terminal(f"send {pane} {shlex.quote(text)} --at-prompt", "delivered")

    def list_panes(self) -> dict[int, dict]:
        return {row["identity"]["id"]: row for row in self.visor.call_robot("list-panes")["items"]}

    def read_log(self, pane: int) -> bytes:
        return read_raw_log(self.visor.paths.raw_dir, pane)

    def list_gap_causes(self, pane: int) -> list[str]:
        return [gap["cause"] for gap in self.visor.call_robot("list-gaps", "--tails", "--pane", str(pane))["items"]]


@pytest.fixture(scope="module")
def own():
    with make_short_folder() as folder, run_compiled_instance(folder, f"{folder}/none") as visor:
        allow_robots(visor, 'spawn", "send_text", "send_keys", "kill')
        visor.start()
        try:
            yield OwnPtys(visor, folder)
        finally:
            kill_processes_of(folder)


def test_a_pane_is_listed_typed_into_searched_and_shown(own):
    pane = own.spawn_shell()
    row = own.list_panes()[pane]
    assert (row["heard_by"], row["command"], row["identity"]["session_name"]) == ("pty", "bash", "pty")
    own.type_line(pane, "echo needle-$((40+2))")
    own.wait_for(pane, "needle-42")
    text = own.visor.call_robot("get-text", str(pane))["text"]
    screen = own.visor.call_robot("get-screen", str(pane))
    assert "needle-42" in text and any("needle-42" in line for line in screen["rows"])
    found = own.visor.call_robot("search", "needle")["items"]
    assert {hit["identity"]["id"] for hit in found} == {pane}
    own.visor.run_at_terminal(f"send-keys {pane} C-d", "keys sent")
    wait_until(lambda: pane not in own.list_panes())
    assert own.list_gap_causes(pane) == []


def test_all_bytes_from_the_first_to_the_last_are_recorded(own):
    pane = own.spawn("printf first; seq 20000; printf last")
    wait_until(lambda: pane not in own.list_panes())
    expected = b"first" + b"".join(b"%d\r\n" % number for number in range(1, 20001)) + b"last"
    wait_until(lambda: own.read_log(pane) == expected)
    assert own.list_gap_causes(pane) == []


def test_a_program_that_cannot_be_found_is_reported(own):
    status, out, _ = own.visor.run("robot", "spawn", "--pty", "--", "no-such-program")
    assert status != 0 and "cannot find the program" in out


def test_closing_a_pane_ends_its_program(own):
    pane = own.spawn("trap '' HUP; echo up; exec sleep 1000")
    own.wait_for(pane, "up")
    own.visor.run_at_terminal(f"kill {pane} --pane --yes", "")
    wait_until(lambda: pane not in own.list_panes())


def test_programs_and_their_screens_outlive_the_daemon(own):
    pane = own.spawn_shell()
    own.type_line(pane, "printf '\\033[31mcolour\\033[0m\\n'; PS1='still> '")
    own.wait_for(pane, "still>")
    before = own.visor.call_robot("get-screen", str(pane))["rows"]
    own.kill_daemon()
    assert own.visor.call_robot("get-screen", str(pane))["rows"] == before
    own.type_line(pane, "echo after-$((1+1))")
    own.wait_for(pane, "after-2")
    assert own.list_gap_causes(pane) == []


def test_an_upgrade_of_everything_is_no_gap_and_keeps_the_screen(own):
    pane = own.spawn_shell()
    own.type_line(pane, "echo before-$((5+5))")
    own.wait_for(pane, "before-10")
    before = own.visor.call_robot("get-screen", str(pane))["rows"]
    daemon_process.stop_daemon(own.visor.paths, keep_recorder=True)
    own.visor.start()
    assert own.visor.call_robot("get-screen", str(pane))["rows"] == before
    own.type_line(pane, "echo after-$((6+6))")
    own.wait_for(pane, "after-12")
    assert own.list_gap_causes(pane) == []


def test_down_says_that_programs_go_on_and_the_next_start_captures_them(own):
    pane = own.spawn_shell()
    assert " output until `visor up`." in own.visor.run_checked("down")
    own.visor.start()
    own.type_line(pane, "echo after-$((3+3))")
    own.wait_for(pane, "after-6")


def test_a_killed_recorder_is_a_gap_and_the_pane_goes_on(own):
    pane = own.spawn_shell()
    os.kill(own.visor.recorder_pid, signal.SIGKILL)
    wait_until(lambda: own.list_gap_causes(pane) == ["recorder_restart"])
    wait_until(lambda: own.list_panes()[pane]["heard_by"] == "pty")
    own.type_line(pane, "echo after-$((2+2))")
    own.wait_for(pane, "after-4")


def test_attaching_shows_the_pane_and_detaching_restores_the_terminal(own):
    pane = own.spawn_shell()
    own.type_line(pane, "echo shown-$((3+3))")
    own.wait_for(pane, "shown-6")
    shown = _attach(own, pane)
    assert "shown-6" in shown and "typed-8" in shown and "[detached]" in shown


def test_a_program_cannot_attach_because_its_keys_would_pass_no_gate(own):
    pane = own.spawn_shell()
    status, printed, _ = own.visor.run("robot", "attach", str(pane))
    assert (status, '"code":"not_permitted"' in printed) == (77, True), printed
    assert glob.glob(f"{own.visor.paths.runtime_dir}/attach-*") == []


def _attach(own, pane: int) -> str:
    """Attach in a terminal, type a line and the detach key, and return all that the terminal showed."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(sys.executable, [sys.executable, "-m", "termvisor", "attach", str(pane)], own.visor.env)
    shown = b""
    for awaited, keys in ((b"shown-6", b"echo typed-$((4+4))\r"), (b"typed-8", b"\x1c"), (b"[detached]", b"")):
        while awaited not in shown:
            shown += os.read(terminal, 1 << 16)
        os.write(terminal, keys)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    os.close(terminal)
    return shown.decode()


@pytest.mark.live
@pytest.mark.timeout(300)
def test_a_hundred_megabytes_are_exact_through_five_deaths_of_the_daemon(own, tmp_path):
    printer = NumberedPrinter(str(tmp_path), "long", 100)
    pane = own.spawn(printer.command)
    printer.release()
    for _ in range(5):
        before = _measure(own, pane)
        own.kill_daemon()
        wait_until(lambda before=before: printer.is_done or _measure(own, pane) > before + 2_000_000, timeout_s=60)
        own.visor.start()
    wait_until(lambda: printer.is_done, timeout_s=120)
    size, _, digest = printer.printed
    marker = b"<<<start>>>\r\n"
    wait_until(lambda: _measure(own, pane) >= size + len(marker))
    content = own.read_log(pane)
    assert hashlib.sha256(content[content.index(marker) + len(marker) :]).hexdigest() == digest
    assert own.list_gap_causes(pane) == []


def _measure(own, pane: int) -> int:
    folder = f"{own.visor.paths.raw_dir}/{pane}"
    return sum(
        os.path.getsize(f"{folder}/{epoch}/{name}")
        for epoch in os.listdir(folder)
        for name in os.listdir(f"{folder}/{epoch}")
        if name.endswith(".raw")
    )
