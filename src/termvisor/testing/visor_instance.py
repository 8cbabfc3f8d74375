"""A private Termvisor instance for tests and benchmarks, with its own folders, daemon and recorder; always stopped."""

import contextlib
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from termvisor.client import daemon_process
from termvisor.daemon.lifecycle import stop_recorder
from termvisor.settings import Paths, get_environment, make_instance_folders
from termvisor.system.retry import wait_until
from termvisor.system.subprocesses import run_and_capture

_START_TIMEOUT_S = 30.0
"""Seconds to wait for a daemon to start, enough on a busy machine."""
_CHANGES_RULE = """
[[rule]]
id = "tests_may_change"
when = { kind = ["write_config", "write_file", "prune_data", "update_records", "export_unredacted"] }
answer = "allow"
"""


class VisorInstance:
    """Runs real `visor` commands in child processes."""

    def __init__(self, folder: str, sockets: list[str], **settings: str):
        self.paths = Paths(f"{folder}/c", f"{folder}/d", f"{folder}/r")
        self.env: Mapping[str, str] = {
            # A test may run inside tmux or beside a real daemon. Hide both from the instance.
            **{name: value for name, value in get_environment().items() if not name.startswith(("VISOR_", "TMUX"))},
            "VISOR_CONFIG_DIR": self.paths.config_dir,
            "VISOR_DATA_DIR": self.paths.data_dir,
            "VISOR_RUNTIME_DIR": self.paths.runtime_dir,
            "VISOR_TMUX_SOCKETS": ",".join(sockets),
            **{f"VISOR_{name.upper()}": value for name, value in settings.items()},
        }

    def run(self, *words: str, timeout: float = 60.0) -> tuple[int, str, str]:
        """Run a command; return exit status, stdout and stderr."""
        status, out, errors = run_and_capture(
            [sys.executable, "-m", "termvisor", *words], timeout_s=timeout, env=self.env
        )
        return status, out.decode("utf-8", "replace"), errors.decode("utf-8", "replace")

    def run_checked(self, *words: str, timeout: float = 60.0) -> str:
        """Run a command that must succeed and return its stdout."""
        status, out, errors = self.run(*words, timeout=timeout)
        if status != 0:
            raise AssertionError(f"visor {' '.join(words)}: status {status}\n{out}{errors}")
        return out

    def run_at_terminal(self, words: str, awaited: str) -> str:
        """Run a command at a terminal of its own, as a person does, and return its output, which must be as awaited.

        Not in a new tmux server: beside a running agent, that could be the agent's, and so is not a person's terminal.
        """
        command = f"{sys.executable} -m termvisor {words}"
        _, out, _ = run_and_capture(["script", "-qc", command, "/dev/null"], timeout_s=60.0, env=self.env)
        text = out.decode("utf-8", "replace")
        if awaited not in text:
            raise AssertionError(f"visor {words}: {text}")
        return text

    def allow_changes(self) -> None:
        """Let programs, such as the test, change settings and files without approval, by a rule of the policy."""
        os.makedirs(self.paths.config_dir, exist_ok=True)
        with open(self.paths.policy_file, "a+", encoding="utf-8") as file:
            file.seek(0)
            text = file.read()
            if _CHANGES_RULE not in text:
                file.write(_CHANGES_RULE)
            if "[rates]" not in text:
                file.write("[rates]\nper_minute = 1000\n")

    def call_robot(self, *words: str, timeout: float = 60.0) -> Any:
        """Run a robot command that must succeed; return its data, with every field. A search without hits succeeds."""
        status, out, errors = self.run("robot", "--full", *words, timeout=timeout)
        answer = msgspec.json.decode(out or "{}")
        if not answer.get("ok"):
            raise AssertionError(f"visor robot {' '.join(words)}: status {status}\n{out}{errors}")
        return answer["data"]

    @property
    def daemon_pid(self) -> int:
        return int(self.call_robot("health")["daemon"]["pid"])

    @property
    def recorder_pid(self) -> int:
        return int(self.call_robot("health")["recorder"]["pid"])

    def kill_daemon(self, number: int = signal.SIGKILL) -> None:
        os.kill(self.daemon_pid, number)

    def start(self) -> None:
        """Start the daemon as a detached process, allowing it more time to answer than an ordinary command gets.

        If it does not start, the next command reports why.
        """
        if not daemon_process.is_running(self.paths):
            make_instance_folders(self.paths)
            # Use a separate session, as the client does, so that a signal to the test's terminal does not stop it.
            script = 'setsid "$@" >"$0" 2>&1 </dev/null &'
            error_file = daemon_process.get_error_file(self.paths)
            run_and_capture(["sh", "-c", script, error_file, *daemon_process.DAEMON_COMMAND], env=self.env, cwd="/")
        wait_until(lambda: daemon_process.fetch_hello(self.paths) is not None, _START_TIMEOUT_S)

    def stop(self) -> None:
        """Stop everything as `visor down` does. Run the command itself only if a demo is running."""
        # `visor down` would cost every test another process. Without a demo it would stop nothing else.
        if os.path.exists(self.paths.demo_socket):
            self.run("down")
        daemon_process.stop_daemon(self.paths)
        # A killed daemon leaves its recorder running, by design.
        stop_recorder(self.paths)


@contextlib.contextmanager
def run_instance(folder: str, *sockets: str, **settings: str) -> Iterator[VisorInstance]:
    instance = VisorInstance(folder, list(sockets), **settings)
    try:
        yield instance
    finally:
        instance.stop()
