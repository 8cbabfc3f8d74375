"""Run tmux's own regression scripts with and without a daemon that watches the servers they start.

Usage: python -m tests.live.tmux_compat.regress_scripts FOLDER [TMUX]

FOLDER is `regress` of a tmux checkout of the same version as TMUX (default: the system's). Releases and Debian's source
packages do not contain these scripts, so this is no part of the tests. A script fails if its exit status is not 0.
"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from termvisor.testing.private_tmux import make_short_folder
from tests.live.tmux_compat.behaviour_runner import run_discovering_instance

LONGEST_SCRIPT_S = 120
ATTEMPTS = 3


def run_script(script: Path, tmux: str, folder: str) -> bool:
    """Return whether a script passed, with its servers in the folder."""
    environment = {**os.environ, "TEST_TMUX": tmux, "TMUX_TMPDIR": folder, "TERM": "screen", "PRIVATE_TMUX": folder}
    argv = ["timeout", str(LONGEST_SCRIPT_S), "sh", script.name]
    done = subprocess.run(
        argv, cwd=script.parent, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    return done.returncode == 0


def run_scripts(scripts: list[Path], tmux: str, folder: str) -> dict[str, bool]:
    return {script.name: run_script(script, tmux, folder) for script in scripts}


def compare_scripts(scripts: list[Path], tmux: str) -> tuple[dict[str, bool], dict[str, bool]]:
    """Return which scripts passed alone and watched. One after another: they all use the same name of a server."""
    with make_short_folder() as folder, make_short_folder() as quiet:
        settings = {"tmux_program": tmux}
        with run_discovering_instance(folder, **settings), ThreadPoolExecutor(2) as pool:
            alone = pool.submit(run_scripts, scripts, tmux, quiet)
            watched = pool.submit(run_scripts, scripts, tmux, folder)
            return alone.result(), watched.result()


def main(folder: str, tmux: str = "tmux") -> int:
    scripts = sorted(Path(folder).resolve().glob("*.sh"))
    alone, watched = compare_scripts(scripts, tmux)
    passed = f"{sum(alone.values())} passed alone, {sum(watched.values())} watched"
    different = [script for script in scripts if alone[script.name] != watched[script.name]]
    # Some scripts start a server while the one before is still ending, and fail by chance with or without a daemon.
    for _ in range(ATTEMPTS):
        alone, watched = compare_scripts(different, tmux) if different else ({}, {})
        different = [script for script in different if alone[script.name] != watched[script.name]]
    print(f"{len(scripts)} scripts: {passed}; different each time: {[script.name for script in different] or 'none'}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
