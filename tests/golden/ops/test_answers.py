"""What every op answers to machines and to people: public promises, changed only on purpose."""

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest

from termvisor.ops.render import action_text
from termvisor.settings import Paths
from termvisor.testing.operation_calls import OPERATION_CALLS, run_command
from termvisor.testing.sample_services import build_sample_services

MACHINE = (
    (r'"python":"[^"]*"', '"python":"<python>"'),
    (r'"platform":"[^"]*"', '"platform":"<platform>"'),
    (r"Python [0-9.]+, \w+", "Python <python>, <platform>"),
    (r"Python [0-9.]+ \([^)]*\)\s+matches\s+regular\s+expressions\s+correctly[^\"\n]*", "Python <python> matches"),
    (r"tmux [0-9.a-z]+", "tmux <version>"),
    (r"\d+\.\d GB free", "<n> GB free"),
    (r'"elapsed_ms":[0-9.]+', '"elapsed_ms":0'),
    (r'"version":\d+', '"version":0'),
    (r'"rules":\d+', '"rules":0'),
    (r"\d+ rules (of \d+ packs|are right)", "<n> rules"),
    (r'("restored_from":"[^"]*","bytes":)\d+', r"\g<1>0"),
    (r"schema \d+: (.*) \(\d+ KB\)", r"schema <n>: \1 (<n> KB)"),
)
"""What differs from machine to machine."""


@pytest.fixture
def root() -> Iterator[Path]:
    """A folder whose path has the same length everywhere, so that lines are folded at the same words."""
    with TemporaryDirectory(prefix="visor-golden-", dir="/tmp") as folder:
        yield Path(folder)


@pytest.fixture
def places(root: Path, monkeypatch: pytest.MonkeyPatch) -> Paths:
    for name in ("VISOR_LOG", "VISOR_COLOUR", "NO_COLOR", "VISOR_TMUX_SOCKETS", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("HOME", str(root))
    monkeypatch.setattr(action_text, "find_user_name", {1000: "ann"}.__getitem__)
    (root / "bin").mkdir()
    (root / "bin/tmux").symlink_to(shutil.which("tmux") or "/nowhere")
    monkeypatch.setenv("PATH", str(root / "bin"))  # agents that are installed here are nothing to the promises
    return Paths(*(str(root / name) for name in ("config", "data", "run")))


@pytest.mark.parametrize("name", OPERATION_CALLS)
async def test_the_answer_to_machines_is_as_promised(
    name: str, places: Paths, root: Path, golden: Callable[[str, str], None]
) -> None:
    answered = await run_command(
        await build_sample_services(places, name), "robot", *OPERATION_CALLS[name], is_full=False
    )
    lines = [msgspec.json.format(line.encode(), indent=2).decode() for line in _same(answered.out, root)]
    golden(f"{name}.json", "\n".join([*lines, ""]))


@pytest.mark.parametrize("name", OPERATION_CALLS)
async def test_the_answer_to_people_is_as_promised(
    name: str, places: Paths, root: Path, golden: Callable[[str, str], None]
) -> None:
    answered = await run_command(
        await build_sample_services(places, name), *_human(OPERATION_CALLS[name]), width=100, is_terminal=True
    )
    golden(f"{name}.txt", "\n".join([*_same(answered.out, root), ""]))


def _human(argv: tuple[str, ...]) -> tuple[str, ...]:
    return ("panes", *argv[1:]) if argv[0] == "state" else argv


def _same(text: str, root: Path) -> list[str]:
    text = text.replace(str(root), "<root>")
    for pattern, instead in MACHINE:
        text = re.sub(pattern, instead, text)
    return text.splitlines()
