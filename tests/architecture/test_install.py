"""`make install`: the command on PATH and its completion, and what is left alone."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.architecture.source import ROOT

PROGRAM = '#!/bin/sh\necho "# visor $*"\n'


class Checkout:
    """A checkout with a command, and a user's home folder."""

    def __init__(self, folder: Path):
        self.home, self.program = folder / "home", folder / "checkout" / ".venv" / "bin" / "visor"
        self.home.mkdir()
        self.program.parent.mkdir(parents=True)
        self.program.write_text(PROGRAM)
        self.program.chmod(0o755)
        self._script = folder / "checkout" / ".ci" / "install"
        self._script.parent.mkdir()
        shutil.copy(ROOT / ".ci" / "install", self._script)

    def run(self, *words: str, path: str = "", shell: str = "/bin/bash") -> tuple[int, str]:
        env = {"HOME": str(self.home), "PATH": f"/usr/bin:/bin:{path}", "SHELL": shell}
        done = subprocess.run([self._script, *words], capture_output=True, text=True, check=False, env=env)
        return done.returncode, done.stdout + done.stderr

    def list_files(self) -> list[str]:
        return sorted(str(path.relative_to(self.home)) for path in self.home.rglob("*") if not path.is_dir())


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_the_command_and_its_completion_are_installed_and_removed(checkout: Checkout) -> None:
    link = checkout.home / ".local/bin/visor"
    for _ in range(2):
        assert checkout.run(path=str(link.parent))[0] == 0
    assert (link.readlink(), len(checkout.list_files())) == (checkout.program, 3)
    completion = checkout.home / ".local/share/bash-completion/completions/visor"
    assert completion.read_text() == "# visor completion bash\n"
    assert checkout.run("remove")[0] == 0
    assert checkout.list_files() == []


def test_the_output_says_what_is_left_to_do(checkout: Checkout) -> None:
    folder = checkout.home / ".local/bin"
    assert f'export PATH="{folder}:$PATH"' in checkout.run()[1]
    assert "Try: visor up" in checkout.run(path=str(folder))[1]
    assert "~/.zshrc: source <(visor completion zsh)" in checkout.run(shell="/bin/zsh")[1]


def test_another_program_of_that_name_is_left_alone(checkout: Checkout) -> None:
    other = checkout.home / ".local/bin/visor"
    other.parent.mkdir(parents=True)
    other.write_text("mine\n")
    status, output = checkout.run()
    assert (status, "BIN=<folder> make install" in output, other.read_text()) == (1, True, "mine\n")
    assert checkout.run("remove")[0] == 0
    assert other.read_text() == "mine\n"
