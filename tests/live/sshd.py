"""Run a real sshd on loopback with its own keys for the current user."""

import contextlib
import getpass
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.live.polling import wait_until

INSTALL_COMMAND = ".ci/setup live"
REMOTE_PROMPT = "\nfar-away"
"""The remote prompt at the start of a row."""


@dataclass(frozen=True)
class SshServer:
    folder: Path
    port: int

    @property
    def shell_command(self) -> str:
        """Return the command line that opens a remote shell with a distinct prompt."""
        options = "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR"
        where = f"-tt -F none -i {self.folder}/key -p {self.port} {options} {getpass.getuser()}@127.0.0.1"
        return f"ssh {where} \"PS1='far-away' exec bash --norc\""


@contextlib.contextmanager
def run_sshd(folder: Path) -> Iterator[SshServer]:
    program = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    if program is None:
        raise AssertionError(f"sshd is not installed: run {INSTALL_COMMAND}")
    if os.getuid() == 0:
        os.makedirs("/run/sshd", mode=0o755, exist_ok=True)
    folder.mkdir(mode=0o700)
    for name in ("host", "key"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    (folder / "authorized").write_text((folder / "key.pub").read_text())
    address = SshServer(folder, _find_free_port())
    (folder / "config").write_text(
        f"ListenAddress 127.0.0.1\nPort {address.port}\nHostKey {folder}/host\nAuthorizedKeysFile {folder}/authorized\n"
        "StrictModes no\nUsePAM no\nPidFile none\nPasswordAuthentication no\nPermitRootLogin yes\nPrintMotd no\n"
    )
    with (folder / "log").open("w") as log:
        server = subprocess.Popen([program, "-D", "-e", "-f", folder / "config"], stderr=log)
    try:
        wait_until(lambda: _is_answering(address.port))
        yield address
    finally:
        server.terminate()
        server.wait()


def _find_free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _is_answering(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
