"""The folder that programs work in: files for them, their environment, and a file server on the loopback interface."""

import os
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from termvisor.testing.private_tmux import PrivateTmux
from tests.live.text_differential.sequences import write_sequences

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = Path(__file__).parent / "programs"
NODE_MODULES = ROOT / ".parts" / "text" / "node_modules"
_ENVIRONMENT = """\
for name in $(env | sed -n 's/^\\([A-Za-z_]*\\)=.*/\\1/p'); do
    case $name in TERM | TMUX | TMUX_PANE | PRIVATE_TMUX | PWD) ;; *) unset "$name" ;; esac
done
export PATH={bin}:{node_modules}/.bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin
export HOME={home} LANG=C.UTF-8 LC_ALL=C.UTF-8
export WORK={work} SEQUENCES={sequences} PROGRAMS={programs} TEXT_NODE_MODULES={node_modules}
export SERVER=http://127.0.0.1:{port}
export PYTHON={python} PYTHONDONTWRITEBYTECODE=1 HISTFILE= SHELL=/bin/sh
export GIT_CONFIG_NOSYSTEM=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_CONFIG_FILE=/dev/null npm_config_update_notifier=false
"""
_GIT_CONFIG = "[user]\nname = Ada\nemail = ada@example.org\n[advice]\ndetachedHead = false\n[safe]\ndirectory = *\n"
_PROGRAMS = (
    "bash",
    "zsh",
    "fish",
    "less",
    "git",
    "curl",
    "wget",
    "tree",
    "vim",
    "man",
    "make",
    "sqlite3",
    "top",
    "column",
)
_PROGRAMS += ("node", "npm", "apt-get", "dpkg-deb")
_WHEEL_NAMES = ("sample_alpha", "sample_beta")
_WHEEL_BYTES = 3_000_000
"""Large enough for a progress bar."""


class _QuietFileHandler(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        """Do not print requests."""


def prepare_server(tmux: PrivateTmux) -> None:
    """Start a server that keeps long histories and stays when its last pane ends."""
    tmux("start-server", ";", "set", "-g", "history-limit", "200000", ";", "set", "-g", "exit-empty", "off")


def require_programs() -> None:
    missing = [name for name in _PROGRAMS if shutil.which(name) is None]
    missing += [str(path) for path in (NODE_MODULES, ROOT / ".venv" / "bin" / "uv") if not path.exists()]
    assert not missing, f"missing: {' '.join(missing)}. Install it with: .ci/setup live"


@contextmanager
def make_work_folder(folder: Path) -> Iterator[Path]:
    """Fill the folder, serve its files and yield the path of the environment file."""
    require_programs()
    work, sequences, home = (folder / name for name in ("work", "sequences", "home"))
    for path in (work, sequences, home):
        path.mkdir()
    write_sequences(sequences)
    (home / ".gitconfig").write_text(_GIT_CONFIG)
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}
    subprocess.run(["sh", PROGRAMS / "prepare.sh"], cwd=work, env=environment, check=True)
    for name in _WHEEL_NAMES:
        write_wheel(work / "index", name)
    (work / "large").write_bytes(bytes(2_000_000))
    with serve_files(work) as port:
        path = folder / "environment"
        path.write_text(
            _ENVIRONMENT.format(
                bin=ROOT / ".venv" / "bin",
                node_modules=NODE_MODULES,
                home=home,
                work=work,
                sequences=sequences,
                programs=PROGRAMS,
                python=sys.executable,
                port=port,
            )
        )
        yield path


@contextmanager
def serve_files(folder: Path) -> Iterator[int]:
    handler = partial(_QuietFileHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_port
        finally:
            server.shutdown()


def write_wheel(index: Path, name: str) -> None:
    """Write a package that holds nothing but bytes, so that no registry is needed."""
    folder = index / name.replace("_", "-")
    folder.mkdir(parents=True)
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}/__init__.py", "")
        wheel.writestr(f"{name}/data", bytes(_WHEEL_BYTES))
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")
