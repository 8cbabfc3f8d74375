"""The commands of the guide "run a command and wait for it" do what it says."""

import os
import re
import subprocess
import sys
from pathlib import Path

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "run-and-wait.md"
EXPECTED = {
    "job harvest hello": "hello from a job\n",
    "job harvest words": "two words|$HOME|\n",
    "job status ask": "job 3: waiting for input (reads_terminal): name?",
    "job harvest ask": "name? Ada\nhi Ada\n",
    "job harvest count --follow": "line 1\nline 2\nline 3\n",
}
STATUSES = {"visor run --name hello": 3}


def list_commands() -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    return [re.sub(r"\s{2,}# .*", "", line) for block in blocks for line in block.splitlines() if line.strip()]


def test_every_command_of_the_guide_works(own_jobs, tmp_path):
    program = tmp_path / "visor"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m termvisor "$@"\n')
    program.chmod(0o755)
    env = {**own_jobs.visor.env, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    commands = list_commands()
    assert len(commands) == 16
    for command in commands:
        done = subprocess.run(
            ["bash", "-c", command], env=env, cwd=tmp_path, capture_output=True, text=True, timeout=20, check=False
        )
        status = next((status for start, status in STATUSES.items() if command.startswith(start)), 0)
        assert done.returncode == status, (command, done.stdout, done.stderr)
        expected = next((text for part, text in EXPECTED.items() if command.endswith(part)), "")
        assert done.stdout.startswith(expected), (command, done.stdout)
