"""The bootstrap script on machines we do not have: a bare PATH, scripted programs that record how they were called."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOLS = ("sh", "cat", "cksum", "cut", "dirname", "env", "rm", "mkdir", "cp", "chmod", "id", "ln", "mv")

PROGRAMS = "bash zsh fish less sudo ssh sshd git curl wget tree vim man make sqlite3 top column"
PACKAGES = (
    "zsh fish less sudo openssh-client openssh-server git curl wget tree vim man-db make sqlite3 procps bsdextrautils"
)

PYTHON = """#!/bin/sh
echo "python $*" | head -n 1 >>{calls}
case "$1 $2" in
    "-c "*) echo "{answer}" ;;
    "-m venv") mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
    "-m pip") {pip} ;;
    *.ci/link.py*) echo msgspec; : >{root}/.venv/.requirements-optional ;;
esac
"""


class Machine:
    """A checkout and a PATH with nothing on it but what a test installs."""

    def __init__(self, folder: Path):
        self.root, self.bin, self.calls_file = folder / "checkout", folder / "bin", folder / "calls"
        self.bin.mkdir()
        self.calls_file.touch()
        shutil.copytree(ROOT / ".ci", self.root / ".ci")
        shutil.copy(ROOT / "pyproject.toml", self.root)
        for tool in (*TOOLS, "head"):
            (self.bin / tool).symlink_to(shutil.which(tool) or tool)

    @property
    def venv(self) -> Path:
        return self.root / ".venv"

    def program(self, name: str, script: str) -> None:
        path = self.bin / name
        path.unlink(missing_ok=True)
        path.write_text(script)
        path.chmod(0o755)

    def python(self, name: str, answer: str, pip: str = ":") -> None:
        self.program(name, PYTHON.format(calls=self.calls_file, answer=answer, pip=pip, root=self.root))

    def apt(self, then: str) -> None:
        """A package manager that does ``then`` when it is asked to install something."""
        script = f'#!/bin/sh\necho "apt-get $*" >>{self.calls_file}\ncase $1 in install) {then} ;; esac\n'
        self.program("apt-get", script)

    def user(self, number: int) -> None:
        self.program("id", f"#!/bin/sh\necho {number}\n")

    def tmux(self) -> None:
        self.program("tmux", "#!/bin/sh\n")

    def npm(self) -> None:
        """A node whose packages hold nothing but their name."""
        self.program("node", "#!/bin/sh\n")
        self.program("tar", "#!/bin/sh\nmkdir package && : >package/package.json\n")
        self.program(
            "npm",
            f'#!/bin/sh\necho "npm $*" >>{self.calls_file}\n'
            '[ "$1" != pack ] || : >asciinema-player-3.tgz >xterm-headless-6.tgz\n',
        )

    def tmux_releases(self) -> None:
        """The tmux of each Debian release, as if fetched before."""
        for release in ("bookworm", "trixie", "forky", "sid"):
            folder = self.root / ".parts" / f"tmux-{release}" / "bin"
            folder.mkdir(parents=True)
            (folder / "tmux").write_text("#!/bin/sh\necho tmux 3.5a\n")
            (folder / "tmux").chmod(0o755)

    def setup(self, mode: str = "run", **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.root / ".ci" / "setup", mode],
            env={"PATH": str(self.bin), "SBIN": "", "SYSTEM_PYTHON": "", **env},
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )

    def calls(self, start: str) -> list[str]:
        return [line for line in self.calls_file.read_text().splitlines() if line.startswith(start)]

    def stamps(self) -> list[Path]:
        return list(self.venv.glob(".ready-*"))


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture
def good(machine: Machine) -> Machine:
    machine.tmux()
    machine.python("python3.12", "3.12.1 ok")
    return machine


def test_a_fresh_checkout_becomes_ready_and_the_second_time_installs_nothing(good: Machine) -> None:
    first = good.setup()
    assert (first.returncode, len(good.stamps()), len(good.calls("python -m pip"))) == (0, 1, 1)
    second = good.setup()
    assert (second.returncode, second.stderr, len(good.calls("python -m pip"))) == (0, "", 1)


def test_only_wheels_are_installed(good: Machine) -> None:
    good.setup()
    assert "--only-binary :all:" in good.calls("python -m pip")[0]


def test_a_fuller_mode_serves_a_smaller_one_but_not_the_other_way(good: Machine) -> None:
    good.setup("dev")
    good.setup("run")
    assert len(good.calls("python -m pip")) == 1
    good.setup("live")
    assert len(good.calls("python -m pip")) == 2


def test_a_half_made_venv_is_removed(good: Machine) -> None:
    (good.venv / "bin").mkdir(parents=True)
    (good.venv / "left-over").touch()
    result = good.setup()
    assert (result.returncode, (good.venv / "left-over").exists(), len(good.stamps())) == (0, False, 1)
    assert "half-made" in result.stderr


def test_a_venv_whose_python_vanished_is_made_anew(good: Machine) -> None:
    good.setup()
    (good.venv / "bin" / "python").unlink()
    assert good.setup().returncode == 0
    assert len(good.calls("python -m venv")) == 2


def test_a_venv_whose_python_changed_its_version_is_made_anew(good: Machine) -> None:
    good.setup()
    good.python("python3.12", "3.12.2 ok")
    shutil.copy(good.bin / "python3.12", good.venv / "bin" / "python")
    assert good.setup().returncode == 0
    assert len(good.calls("python -m venv")) == 2


def test_a_moved_checkout_gets_a_new_venv(good: Machine) -> None:
    good.setup()
    good.root = good.root.rename(good.root.with_name("moved"))
    good.python("python3.12", "3.12.1 ok")
    assert "another Python or folder" in good.setup().stderr


def test_changed_requirements_top_up_the_venv_that_is_there(good: Machine) -> None:
    good.setup()
    with (good.root / "pyproject.toml").open("a") as file:
        file.write("\n# changed\n")
    assert good.setup().returncode == 0
    assert (len(good.calls("python -m venv")), len(good.calls("python -m pip"))) == (1, 2)


def test_a_failed_install_leaves_no_stamp_and_says_how_to_go_on(machine: Machine) -> None:
    machine.tmux()
    machine.python("python3", "3.11.2 ok", pip="echo no network >&2; exit 1")
    result = machine.setup("dev")
    assert (result.returncode, machine.stamps()) == (1, [])
    assert "no network" in result.stderr
    assert ".ci/setup dev" in result.stderr


def test_a_failed_top_up_keeps_the_venv_for_the_next_attempt(good: Machine) -> None:
    good.setup()
    (good.venv / "bin" / "python").unlink()
    good.python("broken", "3.12.1 ok", pip="exit 1")
    shutil.copy(good.bin / "broken", good.venv / "bin" / "python")
    assert good.setup("dev").returncode == 1
    good.setup("dev")
    assert len(good.calls("python -m venv")) == 1


def test_the_newest_fitting_python_is_taken_and_a_dead_shim_passed_over(good: Machine) -> None:
    good.program("python3.13", "#!/bin/sh\nexit 127\n")
    good.python("python3", "3.11.2 ok")
    assert "with python3.12 (3.12.1)" in good.setup().stderr


def test_python_named_by_the_user_is_taken_even_from_a_path_with_spaces(good: Machine, tmp_path: Path) -> None:
    folder = tmp_path / "my pythons"
    folder.mkdir()
    good.python("own", "3.11.9 ok")
    shutil.move(good.bin / "own", folder / "own")
    result = good.setup(PYTHON=str(folder / "own"))
    assert (result.returncode, "my pythons/own (3.11.9)" in result.stderr) == (0, True)


def test_a_named_python_that_does_not_fit_is_refused(good: Machine) -> None:
    good.python("old", "3.9.2 too-old")
    result = good.setup(PYTHON="old")
    assert (result.returncode, "PYTHON=old" in result.stderr, "3.9.2" in result.stderr) == (1, True, True)


def test_without_a_fitting_python_the_message_says_what_was_found(machine: Machine) -> None:
    machine.tmux()
    machine.python("python3", "3.9.2 too-old")
    result = machine.setup()
    assert (result.returncode, "python3 is 3.9.2" in result.stderr, "PYTHON=" in result.stderr) == (1, True, True)


def test_root_installs_the_missing_venv_package_itself(machine: Machine) -> None:
    machine.tmux()
    machine.user(0)
    machine.python("mended", "3.11.2 ok")
    machine.python("python3", "3.11.2 no-venv")
    machine.apt(f"cp {machine.bin}/mended {machine.bin}/python3")
    result = machine.setup()
    assert (result.returncode, len(machine.stamps())) == (0, 1)
    assert [call.split()[1] for call in machine.calls("apt-get")] == ["update", "install"]
    assert machine.calls("apt-get install")[0].endswith(" python3-venv")


def test_a_user_without_rights_is_told_the_exact_command_for_venv(machine: Machine) -> None:
    machine.tmux()
    machine.user(1000)
    machine.python("python3.12", "3.12.3 no-venv")
    machine.apt(":")
    result = machine.setup()
    assert (result.returncode, machine.calls("apt-get")) == (1, [])
    assert "sudo apt-get update && sudo apt-get install python3.12-venv" in result.stderr


def test_root_installs_a_missing_tmux_itself(machine: Machine) -> None:
    machine.user(0)
    machine.python("python3", "3.11.2 ok")
    machine.apt(f"cp {machine.bin}/apt-get {machine.bin}/tmux")
    assert machine.setup().returncode == 0
    assert machine.calls("apt-get install")[0].endswith(" tmux")


def test_sudo_that_asks_no_password_is_used(machine: Machine) -> None:
    machine.user(1000)
    machine.python("python3", "3.11.2 ok")
    machine.program("sudo", f'#!/bin/sh\necho "sudo $*" >>{machine.calls_file}\nshift\nexec "$@"\n')
    machine.program("true", "#!/bin/sh\n")
    machine.apt(f"cp {machine.bin}/apt-get {machine.bin}/tmux")
    assert machine.setup().returncode == 0
    assert {call.split()[1] for call in machine.calls("sudo")} == {"-n"}


def test_sudo_that_would_ask_is_not_used_and_the_command_is_told(machine: Machine) -> None:
    machine.user(1000)
    machine.python("python3", "3.11.2 ok")
    machine.program("sudo", "#!/bin/sh\nexit 1\n")
    machine.apt(":")
    result = machine.setup()
    assert (result.returncode, machine.calls("apt-get")) == (1, [])
    assert "tmux is missing. Install it with: sudo apt-get update && sudo apt-get install tmux" in result.stderr


@pytest.mark.parametrize(
    ("manager", "command"),
    [("brew", "brew install tmux"), ("dnf", "sudo dnf install tmux"), ("pacman", "sudo pacman -S tmux")],
)
def test_other_systems_are_told_their_own_command(machine: Machine, manager: str, command: str) -> None:
    machine.python("python3", "3.11.2 ok")
    machine.program(manager, "#!/bin/sh\n")
    assert machine.setup().stderr == f"setup: tmux is missing. Install it with: {command}\n"


def test_the_live_tests_get_their_programs_and_a_newer_tmux(good: Machine) -> None:
    good.user(0)
    good.program("tmux", "#!/bin/sh\necho tmux 3.5a\n")
    good.npm()
    good.tmux_releases()
    good.apt(f"for one in {PROGRAMS}; do cp {good.bin}/tmux {good.bin}/$one; done")
    assert good.setup("live").returncode == 0
    assert good.calls("apt-get install")[0].endswith(f" bash {PACKAGES}")
    assert os.access(good.root / ".parts" / "tmux" / "bin" / "tmux", os.X_OK)
    assert os.path.exists(good.root / ".parts" / "asciinema-player" / "package.json")
    assert os.path.exists(good.root / ".parts" / "xterm-headless" / "package.json")
    assert [call.split()[1] for call in good.calls("npm")] == ["pack", "pack", *["install"] * 3]
    assert "--ignore-scripts" in good.calls("npm install")[0]
    assert (good.setup("live").stderr, len(good.calls("apt-get install")), len(good.calls("npm"))) == ("", 1, 5)


def test_the_live_tests_get_the_systems_own_python_and_an_environment_for_every_other(good: Machine) -> None:
    good.user(0)
    good.program("tmux", "#!/bin/sh\necho tmux 3.5a\n")
    good.npm()
    good.tmux_releases()
    good.apt(f"for one in {PROGRAMS} system-python; do cp {good.bin}/tmux {good.bin}/$one; done")
    good.setup("live", SYSTEM_PYTHON=f"{good.bin}/system-python")
    assert any(call.endswith(".ci/pythons.py") for call in good.calls("python /"))
    (good.bin / "system-python").unlink()
    assert good.setup("live", SYSTEM_PYTHON=f"{good.bin}/system-python").returncode == 0
    assert good.calls("apt-get install")[1].endswith(" --no-install-recommends python3")


def test_a_program_that_went_away_is_installed_again(good: Machine) -> None:
    good.user(0)
    good.program("tmux", "#!/bin/sh\necho tmux 3.5a\n")
    good.npm()
    good.tmux_releases()
    good.apt(f"for one in {PROGRAMS}; do cp {good.bin}/tmux {good.bin}/$one; done")
    good.setup("live")
    (good.bin / "fish").unlink()
    assert good.setup("live").returncode == 0
    assert good.calls("apt-get install")[1].endswith(" --no-install-recommends fish")


def test_missing_programs_are_told_with_the_command_that_installs_them(good: Machine) -> None:
    good.user(1000)
    for one in ("bash", "ssh"):
        good.program(one, "#!/bin/sh\n")
    good.apt(":")
    result = good.setup("live")
    assert (result.returncode, good.stamps()) == (1, [])
    missing = PACKAGES.replace("openssh-client ", "")
    assert f"the live tests need {missing}. Install it with: sudo apt-get update &&" in result.stderr
    assert f"sudo apt-get install {missing}\n" in result.stderr


def test_a_player_that_cannot_be_fetched_is_told(good: Machine) -> None:
    good.user(0)
    good.program("tmux", "#!/bin/sh\necho tmux 3.5a\n")
    good.npm()
    good.tmux_releases()
    good.program("npm", "#!/bin/sh\nexit 1\n")
    good.apt(f"for one in {PROGRAMS}; do cp {good.bin}/tmux {good.bin}/$one; done")
    result = good.setup("live")
    assert (result.returncode, good.stamps()) == (1, [])
    assert "asciinema-player could not be fetched" in result.stderr


def test_an_unknown_mode_is_refused(good: Machine) -> None:
    assert "no such mode: everything" in good.setup("everything").stderr


def test_a_linked_checkout_is_importable_has_its_version_and_its_command(tmp_path: Path) -> None:
    venv = tmp_path / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    python = venv / "bin" / "python"
    printed = subprocess.run(
        [python, ROOT / ".ci" / "link.py", ROOT, "dev"], check=True, capture_output=True, text=True
    ).stdout
    asked = "import termvisor, importlib.metadata as m; print(termvisor.__path__[0], m.version('termvisor'))"
    answer = subprocess.run([python, "-Ic", asked], check=True, capture_output=True, text=True).stdout.split()
    assert answer[0] == str(ROOT / "src" / "termvisor")
    assert answer[1][0].isdigit()
    assert os.access(venv / "bin" / "visor", os.X_OK)
    assert any(line.startswith("pytest>") for line in printed.splitlines())
    assert "hyperscan" not in printed
    assert "hyperscan" in (venv / ".requirements-optional").read_text()
