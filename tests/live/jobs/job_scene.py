"""A Termvisor instance whose policy lets programs run jobs and answer them, for tests of jobs."""

import base64
import json
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from termvisor.frontends.cli import fast_client
from termvisor.protocol import command_protocol
from termvisor.testing.private_tmux import PrivateTmux, make_short_folder, run_private_tmux
from termvisor.testing.visor_instance import VisorInstance
from tests.live.conftest import run_compiled_instance
from tests.live.polling import wait_until
from tests.live.robot_call import call_robot

PLACES = ("pty", "tmux")
_KINDS = ["run_job", "send_job_input", "stop_job", "send_keys", "export_unredacted", "write_file"]
_KINDS += ["prune_data", "update_records"]
_POLICY = f"""
[[rule]]
id = "tests_may_run_jobs"
when = {{ kind = {json.dumps(_KINDS)} }}
answer = "allow"
[commands]
unknown_effect = "allow"
dynamic = "allow"
environment = "allow"
[rates]
per_minute = 100000
"""


class JobScene:
    """A daemon that runs jobs; ``tmux`` is the user's server, which has no session at first."""

    def __init__(self, visor: VisorInstance, tmux: PrivateTmux):
        self.visor, self.tmux = visor, tmux

    def call(self, *words: str) -> Any:
        return call_robot(self.visor, *words)

    def run(self, *words: str) -> int:
        """Start a job and return its id."""
        return int(self.call("run", *words)["job"]["id"])

    def run_python(self, script: str, *options: str) -> int:
        """Start a job that runs a Python script from a file, because the policy asks about code in arguments."""
        folder = Path(self.visor.paths.data_dir).parent / "scripts"
        folder.mkdir(exist_ok=True)
        path = folder / f"{len(list(folder.iterdir()))}.py"
        path.write_text(script)
        return self.run(*options, "--", sys.executable, str(path))

    def restart_killed_daemon(self) -> None:
        pid = self.visor.daemon_pid
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not Path(f"/proc/{pid}").exists())
        self.visor.start()

    def find_recorder(self) -> int:
        """Return the recorder's process, 0 while there is none."""
        return int((self.call("health")["recorder"] or {"pid": 0})["pid"])

    def run_each(self, commands: Sequence[Sequence[str]], workers: int = 8) -> list[int]:
        with ThreadPoolExecutor(workers) as pool:
            return list(pool.map(lambda words: self.run(*words), commands))

    def wait(self, job: int, *words: str, timeout: int = 60) -> dict[str, Any]:
        """Wait until a job has ended or waits for input; the exit status of the call is that of the command."""
        return self._call_any("job", "wait", str(job), "--timeout-secs", str(timeout), *words)

    def status(self, job: int) -> dict[str, Any]:
        return dict(self.call("job", "status", str(job)))

    def send(self, job: int, *words: str, text: bytes | None = None) -> dict[str, Any]:
        """Type into a job; ``text`` is what the client would read from stdin."""
        return self._call_any("job", "send", str(job), *words, text=text)

    def harvest(self, job: int) -> str:
        return "".join(f"{line['text']}\n" for line in self.call("job", "harvest", str(job))["lines"])

    def harvest_raw(self, job: int) -> bytes:
        """Read all bytes in pages."""
        data, cursor = b"", 0
        while True:
            page = self.call("job", "harvest", str(job), "--raw", "--unredacted", "--cursor", str(cursor))
            data, cursor = data + base64.b64decode(page["data"]), page["cursor"]
            if not page["has_more"]:
                return data

    def _call_any(self, *words: str, text: bytes | None = None) -> dict[str, Any]:
        output = bytearray()
        request = command_protocol.CommandRequest(("--full", *words), True, "/")
        if text is not None:
            request = request.with_input(command_protocol.InputText(text))
        socket = self.visor.paths.daemon_socket
        fast_client.exchange(socket, request, lambda _kind, data: output.extend(data))
        answer = msgspec.json.decode(output)
        return dict(answer["data"] or {"error": answer["error"]})


def allow_jobs(visor: VisorInstance) -> None:
    policy = Path(visor.paths.policy_file)
    policy.parent.mkdir(parents=True, exist_ok=True)
    policy.write_text(_POLICY)
    policy.chmod(0o600)


@contextmanager
def run_job_scene() -> Iterator[JobScene]:
    with (
        make_short_folder() as folder,
        run_private_tmux(folder) as tmux,
        run_compiled_instance(folder, tmux.socket) as visor,
    ):
        allow_jobs(visor)
        visor.start()
        yield JobScene(visor, tmux)
