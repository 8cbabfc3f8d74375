import stat
from pathlib import Path

import pytest

from termvisor.ops.api.services import LocalServices
from termvisor.settings import Paths
from termvisor.setup.shell_integration import add_block
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
def services(home: Path) -> LocalServices:
    return LocalServices(Paths(*(str(home / "visor" / name) for name in ("config", "data", "run"))))


async def test_nothing_is_changed_before_confirmation(services: LocalServices, home: Path) -> None:
    (home / ".bashrc").write_text(f"export GITHUB_TOKEN={TOKEN}\n")
    result = await run_command(services, "robot", "setup", "shell")
    error = result.envelope["error"]
    assert (result.status, error["code"]) == (2, "unconfirmed")
    shown = error["details"]["shown"].split("\n")
    assert [line.partition(": ")[0] for line in shown] == [
        "~/visor/data/shell/termvisor.bash",
        "~/.bashrc",
        "~/.bash_profile",
    ]
    assert "(backup: ~/.bashrc.before-visor)" in shown[1]
    assert TOKEN not in result.out
    assert (home / ".bashrc").read_text() == f"export GITHUB_TOKEN={TOKEN}\n"
    assert not (home / "visor").exists()


async def test_the_block_is_installed_once_and_removed_completely(services: LocalServices, home: Path) -> None:
    path = home / ".bashrc"
    path.write_bytes(b"alias x=y # no newline")
    path.chmod(0o600)
    made = (await run_command(services, "robot", "setup", "shell", "--yes")).envelope["data"]
    assert (made["outcome"], made["path"], made["kept"]) == ("installed", str(path), f"{path}.before-visor")
    assert Path(made["kept"]).read_bytes() == b"alias x=y # no newline"
    installed = path.read_bytes()
    assert (await run_command(services, "setup", "shell")).out.startswith(f"{path}: unchanged\n")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (installed, 0o600)
    gone = (await run_command(services, "robot", "setup", "shell", "--remove", "-y")).envelope["data"]
    assert (gone["outcome"], gone["kept"]) == ("removed", None)
    assert path.read_bytes() == b"alias x=y # no newline"
    assert [child.name for child in home.glob(".bash*")] == [".bashrc"]
    assert not list((home / "visor" / "data" / "shell").iterdir())


async def test_the_start_file_gets_one_line_that_reads_the_script(services: LocalServices, home: Path) -> None:
    (home / ".bashrc").write_text("alias x=y\n")
    made = (await run_command(services, "robot", "setup", "shell", "--yes", "--full")).envelope["data"]
    text = (home / ".bashrc").read_text()
    assert (text.count("\n"), text.count(made["script"])) == (4, 2)
    assert "__visor_prompt() {" in Path(made["script"]).read_text()
    assert stat.S_IMODE(Path(made["script"]).stat().st_mode) == 0o600
    Path(made["script"]).write_text("echo old\n")
    again = (await run_command(services, "robot", "setup", "shell", "--yes")).envelope["data"]
    assert again["outcome"] == "updated"
    assert ((home / ".bashrc").read_text(), "echo old" in Path(made["script"]).read_text()) == (text, False)


async def test_a_created_file_is_deleted_on_removal(services: LocalServices, home: Path) -> None:
    path = home / ".config" / "fish" / "conf.d" / "termvisor.fish"
    shown = (await run_command(services, "robot", "setup", "shell", "fish")).envelope["error"]["details"]["shown"]
    assert "~/.config/fish/conf.d/termvisor.fish: one line that reads it (new file)" in shown
    assert (await run_command(services, "setup", "shell", "fish", "--yes")).status == 0
    assert path.exists()
    assert (await run_command(services, "setup", "shell", "fish", "--remove", "--yes")).status == 0
    assert not path.exists()


async def test_an_outdated_block_is_updated_and_the_first_backup_kept(services: LocalServices, home: Path) -> None:
    path = home / ".bashrc"
    path.write_bytes(add_block(b"alias x=y\n", b"echo old\n") + b"alias z=y\n")
    (home / ".bashrc.before-visor").write_bytes(b"alias x=y\n")
    made = (await run_command(services, "robot", "setup", "shell", "--yes")).envelope["data"]
    assert made["outcome"] == "updated"
    assert b"echo old" not in path.read_bytes()
    assert Path(made["kept"]).read_bytes() == b"alias x=y\n"
    gone = (await run_command(services, "robot", "setup", "shell", "--remove", "--yes")).envelope["data"]
    assert (path.read_bytes(), gone["kept"]) == (b"alias x=y\nalias z=y\n", made["kept"])


async def test_the_nonce_is_created_and_is_not_in_the_start_file(services: LocalServices, home: Path) -> None:
    await run_command(services, "setup", "shell", "--yes")
    nonce = Path(services.paths.nonce_file).read_text().strip()
    script = Path(services.paths.shell_script_dir, "termvisor.bash").read_text()
    assert nonce not in (home / ".bashrc").read_text() + script
    assert services.paths.nonce_file in script


async def test_printing_changes_nothing(services: LocalServices, home: Path) -> None:
    result = await run_command(services, "setup", "shell", "zsh", "--print")
    assert (result.status, "__visor_precmd()" in result.out) == (0, True)
    assert list(home.iterdir()) == []


async def test_removing_without_an_installation_is_reported(services: LocalServices, home: Path) -> None:
    result = await run_command(services, "setup", "shell", "zsh", "--remove")
    assert (result.status, result.out) == (0, f"{home}/.zshrc: unchanged\n")


@pytest.mark.parametrize(
    ("argv", "status", "expected_error"),
    [
        (("--remove", "--print"), 2, "cannot be combined"),
        (("ksh",), 2, "ksh"),
        (("zsh", "--yes"), 78, "damaged"),
        (("bash", "--yes"), 69, "read-only"),
    ],
)
async def test_a_setup_that_cannot_be_done_is_rejected_with_a_hint(
    services: LocalServices, home: Path, argv: tuple[str, ...], status: int, expected_error: str
) -> None:
    (home / ".zshrc").write_text("# >>> visor setup shell >>>\nhalf\n")
    (home / ".bashrc").touch(0o444)
    result = await run_command(services, "setup", "shell", *argv)
    assert (result.status, expected_error in result.err, "hint: " in result.err) == (status, True, True)
    assert (home / ".zshrc").read_text() == "# >>> visor setup shell >>>\nhalf\n"
    assert sorted(child.name for child in home.glob(".*rc*")) == [".bashrc", ".zshrc"]


async def test_an_unsupported_login_shell_is_rejected_with_a_hint(
    services: LocalServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELL", "/bin/dash")
    result = await run_command(services, "setup", "shell")
    assert (result.status, "dash" in result.err, "setup shell bash" in result.err) == (69, True, True)


async def test_a_login_file_that_skips_bashrc_gets_the_same_line(services: LocalServices, home: Path) -> None:
    (home / ".profile").write_text("PATH=$PATH:~/bin\n")
    made = (await run_command(services, "robot", "setup", "shell", "--yes")).envelope["data"]
    assert (made["login_path"], made.get("warning")) == (f"{home}/.profile", None)
    assert (home / ".profile").read_text().endswith((home / ".bashrc").read_text().split("\n", 1)[1])
    assert (await run_command(services, "setup", "shell")).out == f"{home}/.bashrc: unchanged\n"
    await run_command(services, "setup", "shell", "--remove", "--yes")
    assert sorted(child.name for child in home.iterdir()) == [".profile", "visor"]
    assert (home / ".profile").read_text() == "PATH=$PATH:~/bin\n"


async def test_a_login_file_may_be_left_alone(services: LocalServices, home: Path) -> None:
    (home / ".profile").write_text("PATH=$PATH:~/bin\n")
    assert f"read {home}/.profile" in (await run_command(services, "setup", "shell", "--yes", "--no-login")).out
    assert (home / ".profile").read_text() == "PATH=$PATH:~/bin\n"
    (home / ".profile").write_text(". ~/.bashrc\n")
    assert "warning" not in (await run_command(services, "setup", "shell", "--yes")).out


async def test_a_login_file_that_cannot_be_written_is_a_warning(services: LocalServices, home: Path) -> None:
    (home / ".profile").touch(0o444)
    done = await run_command(services, "setup", "shell", "--yes")
    assert (done.status, f"warning: {home}/.profile is read-only" in done.out) == (0, True)
    (home / ".profile").unlink()
    (home / ".profile").mkdir()
    assert "warning: tmux starts login shells" in (await run_command(services, "setup", "shell", "--yes")).out
