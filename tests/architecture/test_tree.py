"""No file names a local path, a registry host or unfinished work."""

import os
import re
import subprocess
import tomllib
from pathlib import Path

import termvisor
from tests.architecture.source import ROOT

HERE = "tests/architecture/test_tree.py"
_BACKWARDS = ("gro.ipyp", "gro.detsohnohtyp", ".sjmpn", "oi.setarc", "oi.rekcod", "oi.rchg", "oi.yauq", "gro.adnocana")
HOSTS = tuple(word[::-1] for word in _BACKWARDS)
"""Spelled backwards, so that this file does not name them either."""
WORDS = ("TODO", "FIXME", "NotImplementedError", "lorem ipsum", "as an AI")
SAMPLE_USERS = "you|me|user|alice|bob|ada|dev"
DEVELOPER_PATH = re.compile(rf"(?<![\w.~*}}])/(?:home|Users|root|work|workspace)/(?!(?:{SAMPLE_USERS})\b)[\w.-]+")
TEXT = {".py", ".md", ".toml", ".sql", ".json", ".sh", ".yml", ".yaml", ".txt", ""}
TARGETS = ("run", "test", "test-live", "test-all", "check", "fix", "bench", "accuracy", "golden", "docs", "demo")
BANS = ("time.time", "time.time_ns", "time.sleep", "datetime.datetime.now", "os.environ", "os.getenv")
BANS += ("asyncio.create_task", "asyncio.ensure_future", "subprocess")
IN_ROOT = {"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE", "AGENTS.md", "Makefile"}
IN_ROOT |= {"pyproject.toml", "src", "tests", "docs", "examples", ".ci", ".github", ".gitignore"}
IN_ROOT |= {".pre-commit-config.yaml", ".git-blame-ignore-revs"}


def find_foreign_text(path: str, text: str) -> list[str]:
    """Return registry hosts, unfinished markers and local paths in a file."""
    lower = text.lower()
    found = [host for host in HOSTS if host in lower]
    found += [word for word in WORDS if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text)]
    found += DEVELOPER_PATH.findall(text)
    return [f"{path}: {what}" for what in found]


def test_no_file_has_foreign_text() -> None:
    assert [line for path in _files() for line in find_foreign_text(path, _text(path))] == []


def test_a_registry_host_a_local_path_and_an_unfinished_marker_are_found() -> None:
    text = f"from https://{HOSTS[0]}/simple in /home/fred/src\n# TODO later\n"
    assert find_foreign_text("x.md", text) == [f"x.md: {HOSTS[0]}", "x.md: TODO", "x.md: /home/fred"]


def test_ordinary_words_are_not_found() -> None:
    assert find_foreign_text("x.md", "~/work/api, $HOME/work/x, /home/you/src, todos, /var/root/x") == []


def test_the_root_holds_only_what_belongs_there() -> None:
    assert {path.split("/")[0] for path in _files()} - IN_ROOT == set()


def test_one_version_everywhere() -> None:
    assert termvisor.__version__ == _project()["project"]["version"]


def test_the_linter_bans_ambient_calls() -> None:
    lint = _project()["tool"]["ruff"]["lint"]
    banned = set(lint["flake8-tidy-imports"]["banned-api"])
    wanted = (
        "time.time time.time_ns time.sleep datetime.datetime.now os.environ os.getenv asyncio.create_task subprocess"
    )
    assert set(wanted.split()) - banned == set()
    assert "TID" in lint["select"]


def test_every_documented_make_target_exists_and_runs_setup_first() -> None:
    makefile = (ROOT / "Makefile").read_text()
    assert [name for name in TARGETS if not re.search(rf"^{name}:.*## ", makefile, re.MULTILINE)] == []
    command = ["make", "--no-print-directory", "-n", "run"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert printed.splitlines()[:2] == [".ci/setup run", ".venv/bin/visor up --demo-if-empty"]


def test_every_live_test_is_in_a_folder_that_make_collects() -> None:
    named = re.search(r"^LIVE = (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert named
    folders = tuple(f"{name}/" for name in named[1].split())
    marked = [path for path in _files() if path.startswith("tests/") and "pytest.mark.live" in _text(path)]
    assert marked
    assert [path for path in marked if not path.startswith(folders)] == []


def test_continuous_integration_runs_all_tests() -> None:
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    assert (ROOT / ".ci" / "run").read_text().splitlines()[-1] == "exec make test-all"


def _project() -> dict[str, dict]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def _files() -> list[str]:
    """Everything that is, or would be, committed."""
    command = ["git", "-c", "safe.directory=*", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return [path for path in listed if path != HERE and (ROOT / path).is_file()]


def _text(path: str) -> str:
    return (ROOT / path).read_text("utf-8", "replace") if Path(path).suffix in TEXT else ""
