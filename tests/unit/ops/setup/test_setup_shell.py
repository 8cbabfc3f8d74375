import stat
from pathlib import Path

import pytest

from termvisor.ops.api.local_services import LocalServices
from termvisor.settings import Paths
from termvisor.setup.shell_startup_file import add_block
from termvisor.testing.operation_calls import run_command

TOKEN = "ghp_" + "a1B2" * 9


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SHELL", "/bin/bash")
    monkeypatch.delenv("ZDOTDIR", raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return tmp_path


@pytest.fixture
def world(home: Path) -> LocalServices:
    return LocalServices(Paths(*(str(home / "visor" / name) for name in ("config", "data", "run"))))


async def test_nothing_is_done_before_the_change_was_seen(world: LocalServices, home: Path) -> None:
    (home / ".bashrc").write_text(f"export GITHUB_TOKEN={TOKEN}\n")
    answered = await run_command(world, "robot", "setup", "shell")
    error = answered.envelope["error"]
    assert (answered.status, error["code"]) == (2, "unconfirmed")
    assert f"+++ {home}/.bashrc" in error["details"]["shown"]
    assert "+    __visor_prompt() {" in error["details"]["shown"]
    assert TOKEN not in answered.out
    assert (home / ".bashrc").read_text() == f"export GITHUB_TOKEN={TOKEN}\n"
    assert not (home / "visor").exists()


async def test_it_is_installed_once_and_removed_without_a_trace(world: LocalServices, home: Path) -> None:
    path = home / ".bashrc"
    path.write_bytes(b"alias x=y # no newline")
    path.chmod(0o600)
    made = (await run_command(world, "robot", "setup", "shell", "--yes")).envelope["data"]
    assert (made["outcome"], made["path"], made["kept"]) == ("installed", str(path), f"{path}.before-visor")
    assert Path(made["kept"]).read_bytes() == b"alias x=y # no newline"
    installed = path.read_bytes()
    assert (await run_command(world, "setup", "shell")).out.startswith(f"{path}: nothing to do\n")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (installed, 0o600)
    gone = (await run_command(world, "robot", "setup", "shell", "--remove", "-y")).envelope["data"]
    assert (gone["outcome"], gone["kept"]) == ("removed", None)
    assert path.read_bytes() == b"alias x=y # no newline"
    assert [child.name for child in home.glob(".bash*")] == [".bashrc"]


async def test_a_file_that_was_not_there_is_gone_again(world: LocalServices, home: Path) -> None:
    path = home / ".config" / "fish" / "conf.d" / "termvisor.fish"
    shown = (await run_command(world, "robot", "setup", "shell", "fish")).envelope["error"]["details"]["shown"]
    assert shown.startswith("--- /dev/null\n")
    assert (await run_command(world, "setup", "shell", "fish", "--yes")).status == 0
    assert path.exists()
    assert (await run_command(world, "setup", "shell", "fish", "--remove", "--yes")).status == 0
    assert not path.exists()


async def test_an_older_block_is_brought_up_to_date_and_the_first_copy_stays(world: LocalServices, home: Path) -> None:
    path = home / ".bashrc"
    path.write_bytes(add_block(b"alias x=y\n", b"echo old\n") + b"alias z=y\n")
    (home / ".bashrc.before-visor").write_bytes(b"alias x=y\n")
    made = (await run_command(world, "robot", "setup", "shell", "--yes")).envelope["data"]
    assert made["outcome"] == "updated"
    assert b"echo old" not in path.read_bytes()
    assert Path(made["kept"]).read_bytes() == b"alias x=y\n"
    gone = (await run_command(world, "robot", "setup", "shell", "--remove", "--yes")).envelope["data"]
    assert (path.read_bytes(), gone["kept"]) == (b"alias x=y\nalias z=y\n", made["kept"])


async def test_the_nonce_is_made_and_is_not_in_the_file(world: LocalServices, home: Path) -> None:
    await run_command(world, "setup", "shell", "--yes")
    nonce = Path(world.paths.nonce_file).read_text().strip()
    text = (home / ".bashrc").read_text()
    assert (nonce in text, world.paths.nonce_file in text) == (False, True)


async def test_printing_changes_nothing(world: LocalServices, home: Path) -> None:
    answered = await run_command(world, "setup", "shell", "zsh", "--print")
    assert (answered.status, "__visor_precmd()" in answered.out) == (0, True)
    assert list(home.iterdir()) == []


async def test_removing_what_is_not_there_says_so(world: LocalServices, home: Path) -> None:
    answered = await run_command(world, "setup", "shell", "zsh", "--remove")
    assert (answered.status, answered.out) == (0, f"{home}/.zshrc: nothing to do\n")


@pytest.mark.parametrize(
    ("argv", "status", "said"),
    [
        (("--remove", "--print"), 2, "do not go together"),
        (("ksh",), 2, "ksh"),
        (("zsh", "--yes"), 78, "damaged"),
        (("bash", "--yes"), 69, "read-only"),
    ],
)
async def test_what_cannot_be_done_is_told(
    world: LocalServices, home: Path, argv: tuple[str, ...], status: int, said: str
) -> None:
    (home / ".zshrc").write_text("# >>> visor setup shell >>>\nhalf\n")
    (home / ".bashrc").touch(0o444)
    answered = await run_command(world, "setup", "shell", *argv)
    assert (answered.status, said in answered.err, "hint: " in answered.err) == (status, True, True)
    assert (home / ".zshrc").read_text() == "# >>> visor setup shell >>>\nhalf\n"
    assert sorted(child.name for child in home.glob(".*rc*")) == [".bashrc", ".zshrc"]


async def test_an_unknown_shell_is_asked_for_by_name(world: LocalServices, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/bin/dash")
    answered = await run_command(world, "setup", "shell")
    assert (answered.status, "dash" in answered.err, "setup shell bash" in answered.err) == (69, True, True)


async def test_a_bash_that_tmux_starts_otherwise_is_warned_about(world: LocalServices, home: Path) -> None:
    assert "warning: tmux starts login shells" in (await run_command(world, "setup", "shell", "--yes")).out
    (home / ".profile").write_text(". ~/.bashrc\n")
    assert "warning" not in (await run_command(world, "setup", "shell", "--yes")).out
