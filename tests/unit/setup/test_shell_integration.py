import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from termvisor.errors import ConfigError, Unsupported
from termvisor.model.paths import Paths
from termvisor.setup.shell_integration import (
    SHELLS,
    Shell,
    add_block,
    build_snippet,
    build_source_line,
    detect_shell,
    find_skipping_login_file,
    get_script_path,
    get_startup_path,
    has_block,
    list_login_files,
    remove_block,
)


@pytest.mark.parametrize(
    ("shell", "environ", "path"),
    [
        ("bash", {"HOME": "/home/me"}, "/home/me/.bashrc"),
        ("zsh", {"HOME": "/home/me"}, "/home/me/.zshrc"),
        ("zsh", {"HOME": "/home/me", "ZDOTDIR": "/home/me/zsh"}, "/home/me/zsh/.zshrc"),
        ("fish", {"HOME": "/home/me"}, "/home/me/.config/fish/conf.d/termvisor.fish"),
        ("fish", {"HOME": "/home/me", "XDG_CONFIG_HOME": "/cfg"}, "/cfg/fish/conf.d/termvisor.fish"),
    ],
)
def test_every_shell_has_its_start_file(shell: Shell, environ: dict[str, str], path: str) -> None:
    assert get_startup_path(shell, environ) == path


def test_the_users_shell_comes_from_the_environment() -> None:
    assert detect_shell({"SHELL": "/usr/local/bin/fish"}) == "fish"
    for environ in ({"SHELL": "/bin/dash"}, {}):
        with pytest.raises(Unsupported) as caught:
            detect_shell(environ)
        assert "bash, zsh, fish" in caught.value.hint


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_contains_the_quoted_path_of_the_nonce(shell: Shell) -> None:
    text = build_snippet(shell, Paths("", "/a b/it's\\here", "/run/it's"))
    assert b"@" not in re.sub(rb"\[@\]|@P", b"", text)
    assert {"bash": b"""'/a b/it'"'"'s\\here/nonce'""", "fish": b"'/a b/it\\'s\\\\here/nonce'"}.get(
        shell, b"nonce"
    ) in text
    folder = os.fsdecode(b"/\xff")
    for path in (b"/\xff/nonce", b"/\xff/shells"):
        assert path in build_snippet(shell, Paths("", folder, folder))


def test_bash_parses_the_script() -> None:
    text = build_snippet("bash", Paths("", "/a b/it's", "/c d/it's"))
    subprocess.run([shutil.which("bash") or "bash", "-n"], input=text, check=True)


def test_no_line_of_the_script_is_too_long_for_a_terminal() -> None:
    lines = [
        line
        for shell in SHELLS
        for line in build_snippet(shell, Paths("/c", "/d", "/run/user/1000")).decode().splitlines()
    ]
    assert [line for line in lines if len(line) > 120] == []


def test_a_login_file_that_skips_bashrc_is_found(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path)}
    assert find_skipping_login_file("bash", environ) == f"{tmp_path}/.bash_profile"
    assert list_login_files("bash", environ) == []
    (tmp_path / ".profile").write_text("PATH=$PATH:~/bin\n")
    assert find_skipping_login_file("bash", environ) == f"{tmp_path}/.profile"
    (tmp_path / ".profile").write_text("[ -f ~/.bashrc ] && . ~/.bashrc\n")
    assert find_skipping_login_file("bash", environ) is None
    assert list_login_files("bash", environ) == [f"{tmp_path}/.profile"]
    (tmp_path / ".bash_profile").mkdir()
    assert find_skipping_login_file("bash", environ) == f"{tmp_path}/.bash_profile"
    assert find_skipping_login_file("zsh", environ) is None


def test_our_own_line_does_not_count_as_reading_bashrc(tmp_path: Path) -> None:
    (tmp_path / ".profile").write_bytes(add_block(b"", b". /a/bashrc.d/termvisor.bash\n"))
    assert find_skipping_login_file("bash", {"HOME": str(tmp_path)}) == f"{tmp_path}/.profile"


SOURCING_SHELLS = ("bash", "sh", "sh -u", "bash -u", "bash -e")


@pytest.mark.parametrize("reader", SOURCING_SHELLS)
def test_the_line_reads_the_script_only_in_bash_and_only_if_it_is_there(tmp_path: Path, reader: str) -> None:
    paths = Paths("", str(tmp_path / "it's here"), "/run")
    line = build_source_line("bash", paths).decode()
    script = Path(get_script_path("bash", paths))
    assert run_shell(reader, f"{line}echo $? end") == "0 end\n"
    script.parent.mkdir(parents=True)
    script.write_text("[[ -n $BASH_VERSION ]] && echo read\n")
    expected = "read\n0 end\n" if reader.startswith("bash") else "0 end\n"
    assert run_shell(reader, f"{line}echo $? end") == expected


def run_shell(reader: str, text: str) -> str:
    done = subprocess.run([*reader.split(), "-c", text], capture_output=True, text=True, check=True)
    return done.stdout


BODY = b"echo hello\n"
BEGIN, END = b"# >>> visor setup shell >>>", b"# <<< visor setup shell <<<"


def test_the_block_is_added_between_markers_at_the_end() -> None:
    assert add_block(b"alias x=y\n", BODY) == b"alias x=y\n" + BEGIN + b"\necho hello\n" + END + b"\n"
    assert has_block(add_block(None, BODY))
    assert not has_block(b"# visor setup shell\n")


@pytest.mark.parametrize("data", [None, b"", b"x", b"x\n", b"x\r\n", b"x\r\ny", b"\xff\xfe", b"\n\n"])
def test_removing_the_block_restores_the_content(data: bytes | None) -> None:
    assert remove_block(add_block(data, BODY)) == data


def test_a_new_block_replaces_the_old_one() -> None:
    edited = add_block(b"before", b"old\n") + b"after\n"
    assert add_block(edited, BODY) == add_block(b"before", BODY) + b"after\n"
    assert remove_block(edited) == b"before\nafter\n"


def test_a_created_file_with_other_content_is_kept_on_removal() -> None:
    assert remove_block(add_block(None, BODY) + b"alias x=y\n") == b"alias x=y\n"


def test_a_block_with_other_line_ends_is_found() -> None:
    assert remove_block(add_block(b"x\n", BODY).replace(b"\n", b"\r\n")) == b"x\r\n"
    assert remove_block(add_block(b"x\n", BODY).removesuffix(b"\n")) == b"x\n"


@pytest.mark.parametrize(
    "data",
    [BEGIN + b"\nx\n", b"x\n" + END + b"\n", END + b"\n" + BEGIN + b"\n", 2 * add_block(b"", BODY)],
    ids=["no end", "no begin", "the wrong way round", "twice"],
)
def test_damaged_markers_are_rejected(data: bytes) -> None:
    for change in (lambda: add_block(data, BODY), lambda: remove_block(data)):
        with pytest.raises(ConfigError, match="damaged"):
            change()
