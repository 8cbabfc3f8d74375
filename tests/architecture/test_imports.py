"""Who may know whom, beyond the layers in pyproject.toml; holds for files that do not exist yet."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.architecture.source import ROOT, SOURCE, Module, modules, sample, within

WORLD = ("asyncio", "sqlite3", "apsw", "subprocess", "socket", "time", "random")
PURE = ("model", "redaction", "terminal", "detection.scanner", "agents.state", "policy", "regex.engine")
PURE += ("search.parser", "search.lexer", "search.query_tree", "search.line_match")
VALUES = ("model", "errors", "clock", "settings", "redaction", "__version__")
FACES = ("frontends", "client", "ops", "setup", "protocol", "log", "system", "daemon.lifecycle", "daemon.run", *VALUES)
RECORDER = ("posix", "os", "sys", "select", "errno", "signal", "struct", "_socket", "_struct", "_signal", "__future__")
RECORDER += ("fcntl", "resource", "time", "collections.abc", "typing")
ONLY_READ = ("recorder.compressed_segment",)
"""Loaded by whoever reads a packed segment, never by the recorder: tests/unit/recorder/test_options.py proves it."""
DOORS = ("backends.pane_control", "llm", "actions.executor", "actions.notifications")


def ours(*names: str) -> tuple[str, ...]:
    return tuple(f"termvisor.{name}" for name in names)


BUILDERS = tuple(f"termvisor.daemon.{name}" for name in ("assembly", "acting.gate_assembly", "acting.pane_access"))
"""The composition root; what the gate is made of stands on a page of its own."""


def foreign_friends(module: Module, allowed: tuple[str, ...]) -> list[str]:
    """What a module imports of ours beyond the places it may know."""
    known = [name for name in module.imports() if name.startswith("termvisor.")]
    return sorted(name for name in known if not within(name, *ours(*allowed)))


def touches_the_world(module: Module) -> list[str]:
    is_pure = within(module.name, *ours(*PURE))
    return sorted(name for name in module.imports() if is_pure and within(name, *WORLD))


def opens_a_door(module: Module) -> list[str]:
    """Whoever types, calls a model or notifies goes through the gate; only the gate and the builder know the doors."""
    if module.package in ("actions", "testing") or module.name in BUILDERS:
        return []
    found = [name for name in module.imports() if within(name, *ours(*DOORS)) or _is_channel(name)]
    return sorted(name for name in found if not _is_at_home(module, name))


def _is_channel(name: str) -> bool:
    return within(name, *ours("agents.adapters")) and "keyboard" in name.split(".")[4:5]


def _is_at_home(module: Module, door: str) -> bool:
    """A backend implements its own contract: it may know the door in its own package."""
    depth = 4 if _is_channel(door) else 2
    return module.name.split(".")[:depth] == door.split(".")[:depth]


def knows_more_than_a_face(module: Module) -> list[str]:
    is_face = module.package in ("frontends", "shell", "client")
    return foreign_friends(module, (*FACES, module.package)) if is_face else []


def knows_more_than_an_op(module: Module) -> list[str]:
    """An op file speaks in values and sees the product through World."""
    return (
        foreign_friends(module, (*VALUES, "bus", "regex", "log", "system", "setup", "diagnostics", "ops"))
        if is_op(module)
        else []
    )


def is_op(module: Module) -> bool:
    return module.package == "ops" and "\nOP = Operation(" in module.text


def weighs_down_the_recorder(module: Module) -> list[str]:
    if module.package != "recorder" or within(module.name, *ours(*ONLY_READ)):
        return []
    return sorted(name for name in module.imports() if not within(name, "termvisor.recorder", *RECORDER))


CHECKS = (touches_the_world, opens_a_door, knows_more_than_a_face, knows_more_than_an_op, weighs_down_the_recorder)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_nobody_knows_more_than_it_may(check: Callable[[Module], list[str]]) -> None:
    assert {module.path: found for module in modules() if (found := check(module))} == {}


@pytest.mark.parametrize(
    ("check", "name", "line", "found"),
    [
        (touches_the_world, "terminal.x", "import asyncio.events", ["asyncio.events"]),
        (touches_the_world, "search.parser", "def f():\n    from time import time\n", ["time", "time.time"]),
        (
            opens_a_door,
            "workflows.x",
            "from termvisor.backends import pane_control",
            ["termvisor.backends.pane_control"],
        ),
        (opens_a_door, "ops.x", "import termvisor.llm.canned", ["termvisor.llm.canned"]),
        (
            opens_a_door,
            "jobs.x",
            "import termvisor.agents.adapters.codex.keyboard",
            ["termvisor.agents.adapters.codex.keyboard"],
        ),
        (
            opens_a_door,
            "agents.adapters.codex.x",
            "import termvisor.agents.adapters.gemini.keyboard",
            ["termvisor.agents.adapters.gemini.keyboard"],
        ),
        (opens_a_door, "ops.x", "import termvisor.actions.executor", ["termvisor.actions.executor"]),
        (
            opens_a_door,
            "daemon.x",
            "import termvisor.actions.notifications.webhook",
            ["termvisor.actions.notifications.webhook"],
        ),
        (knows_more_than_a_face, "frontends.x", "import termvisor.daemon.assembly", ["termvisor.daemon.assembly"]),
        (knows_more_than_a_face, "client", "from ..termvisor import store", ["termvisor.store"]),
        (
            knows_more_than_an_op,
            "ops.x",
            "import termvisor.store.sqlite.database\nOP = Operation()",
            ["termvisor.store.sqlite.database"],
        ),
        (
            knows_more_than_an_op,
            "ops.x",
            "import termvisor.daemon.lifecycle\nOP = Operation()",
            ["termvisor.daemon.lifecycle"],
        ),
        (weighs_down_the_recorder, "recorder.x", "import json", ["json"]),
    ],
)
def test_a_forbidden_import_is_found(
    check: Callable[[Module], list[str]], name: str, line: str, found: list[str]
) -> None:
    assert check(sample(line, f"termvisor.{name}")) == found


@pytest.mark.parametrize(
    ("check", "name", "line"),
    [
        (touches_the_world, "capture.x", "import asyncio"),
        (touches_the_world, "terminal.x", "import timeit"),
        (
            opens_a_door,
            "actions.gate",
            "import termvisor.actions.executor, termvisor.backends.pane_control, termvisor.llm",
        ),
        (opens_a_door, "daemon.assembly", "import termvisor.backends.pane_control"),
        (opens_a_door, "backends.tmux.input", "import termvisor.backends.pane_control"),
        (opens_a_door, "agents.adapters.codex.queue", "import termvisor.agents.adapters.codex.keyboard"),
        (
            knows_more_than_a_face,
            "frontends.cli.x",
            "import termvisor.client, termvisor.daemon.lifecycle, termvisor.model",
        ),
        (
            knows_more_than_an_op,
            "ops.x",
            "import termvisor.ops.api.services, termvisor.model.terminal.pane\nOP = Operation()",
        ),
        (weighs_down_the_recorder, "recorder.compressed_segment", "import zstandard"),
    ],
)
def test_an_allowed_import_is_let_through(check: Callable[[Module], list[str]], name: str, line: str) -> None:
    assert check(sample(line, f"termvisor.{name}")) == []


def lint(source: Path) -> subprocess.CompletedProcess[str]:
    """The contracts of pyproject.toml on a source tree."""
    command = [Path(sys.executable).with_name("lint-imports"), "--no-logo", "--no-cache"]
    env = {"PYTHONPATH": str(source), "PATH": ""}
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)


def test_the_layers_and_contracts_are_kept() -> None:
    result = lint(SOURCE)
    assert (result.returncode, "0 broken" in result.stdout) == (0, True), result.stdout


BAD = {
    "terminal/bad_clock.py": "import time",
    "capture/bad_driver.py": "import apsw",
    "model/bad_height.py": "import termvisor.errors",
    "terminal/bad_sibling.py": "import termvisor.search",
    "ops/bad_store.py": "import termvisor.store",
    "recorder/bad_friend.py": "import termvisor.model",
    "daemon/bad_notifier.py": "import termvisor.actions.notifications.webhook",
    "daemon/bad_typist.py": "import termvisor.agents.adapters.codex.keyboard",
}


@pytest.mark.parametrize("files", [BAD, {"utilities.py": ""}], ids=["imports", "place"])
def test_a_broken_contract_is_found(tmp_path: Path, files: dict[str, str]) -> None:
    shutil.copytree(SOURCE / "termvisor", tmp_path / "termvisor", ignore=shutil.ignore_patterns("__pycache__"))
    for path, line in files.items():
        (tmp_path / "termvisor" / path).write_text(line + "\n")
    result = lint(tmp_path)
    assert result.returncode == 1, result.stdout
    assert [path for path in files if Path(path).stem not in result.stdout] == [], result.stdout
