"""Import rules beyond the layers in pyproject.toml. They hold for new files without a change here."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.architecture.source import ROOT, SOURCE, Module, modules, sample, within

SIDE_EFFECTS = ("asyncio", "sqlite3", "apsw", "subprocess", "socket", "time", "random")
PURE = ("model", "redaction", "terminal", "detection.scanner", "agents.state", "policy", "regex.engine")
PURE += ("search.parser", "search.lexer", "search.query_tree")
VALUES = ("model", "errors", "clock", "settings", "settings_file", "redaction", "__version__")
FRONTEND_IMPORTS = (
    "frontends",
    "client",
    "ops",
    "setup",
    "protocol",
    "log",
    "system",
    "daemon.lifecycle",
    "daemon.run",
    *VALUES,
)
RECORDER = ("posix", "os", "sys", "select", "errno", "signal", "struct", "_socket", "_struct", "_signal", "__future__")
RECORDER += ("fcntl", "resource", "time", "collections.abc", "typing")
READER_SIDE = ("recorder.compressed_segment",)
"""Loaded by readers of compressed segments, never by the recorder: tests/unit/recorder/test_options.py proves it."""
GATED = ("backends.pane_control", "llm", "actions.executor", "actions.notifications")


def prefix(*names: str) -> tuple[str, ...]:
    return tuple(f"termvisor.{name}" for name in names)


COMPOSITION_ROOT = tuple(
    f"termvisor.daemon.{name}" for name in ("assembly", "acting.gate_assembly", "acting.pane_access")
)
"""Modules that construct the gate and may import what it protects."""


def find_imports_beyond(module: Module, allowed: tuple[str, ...]) -> list[str]:
    """Return imports of our own modules outside the allowed packages."""
    known = [name for name in module.imports() if name.startswith("termvisor.")]
    return sorted(name for name in known if not within(name, *prefix(*allowed)))


def find_impure_imports(module: Module) -> list[str]:
    is_pure = within(module.name, *prefix(*PURE))
    return sorted(name for name in module.imports() if is_pure and within(name, *SIDE_EFFECTS))


def find_ungated_imports(module: Module) -> list[str]:
    """Typing, model calls and notifications go through the gate; only the gate and its assembly import them."""
    if module.package in ("actions", "testing") or module.name in COMPOSITION_ROOT:
        return []
    found = [name for name in module.imports() if within(name, *prefix(*GATED)) or _is_channel(name)]
    return sorted(name for name in found if not _is_same_package(module, name))


def _is_channel(name: str) -> bool:
    return within(name, *prefix("agents.adapters")) and "keyboard" in name.split(".")[4:5]


def _is_same_package(module: Module, gated: str) -> bool:
    """A backend implements its own contract, so it may import the gated module of its own package."""
    depth = 4 if _is_channel(gated) else 2
    return module.name.split(".")[:depth] == gated.split(".")[:depth]


def find_frontend_imports(module: Module) -> list[str]:
    is_frontend = module.package in ("frontends", "shell", "client")
    return find_imports_beyond(module, (*FRONTEND_IMPORTS, module.package)) if is_frontend else []


def find_operation_imports(module: Module) -> list[str]:
    """An operation imports values and reaches everything else through Services."""
    return (
        find_imports_beyond(module, (*VALUES, "bus", "regex", "log", "system", "setup", "diagnostics", "ops"))
        if is_op(module)
        else []
    )


def is_op(module: Module) -> bool:
    return module.package == "ops" and "\nOP = " in module.text


def find_recorder_imports(module: Module) -> list[str]:
    if module.package != "recorder" or within(module.name, *prefix(*READER_SIDE)):
        return []
    return sorted(name for name in module.imports() if not within(name, "termvisor.recorder", *RECORDER))


CHECKS = (
    find_impure_imports,
    find_ungated_imports,
    find_frontend_imports,
    find_operation_imports,
    find_recorder_imports,
)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_imports_stay_within_the_rules(check: Callable[[Module], list[str]]) -> None:
    assert {module.path: found for module in modules() if (found := check(module))} == {}


@pytest.mark.parametrize(
    ("check", "name", "line", "found"),
    [
        (find_impure_imports, "terminal.x", "import asyncio.events", ["asyncio.events"]),
        (find_impure_imports, "search.parser", "def f():\n    from time import time\n", ["time", "time.time"]),
        (
            find_ungated_imports,
            "workflows.x",
            "from termvisor.backends import pane_control",
            ["termvisor.backends.pane_control"],
        ),
        (find_ungated_imports, "ops.x", "import termvisor.llm.canned", ["termvisor.llm.canned"]),
        (
            find_ungated_imports,
            "jobs.x",
            "import termvisor.agents.adapters.codex.keyboard",
            ["termvisor.agents.adapters.codex.keyboard"],
        ),
        (
            find_ungated_imports,
            "agents.adapters.codex.x",
            "import termvisor.agents.adapters.gemini.keyboard",
            ["termvisor.agents.adapters.gemini.keyboard"],
        ),
        (find_ungated_imports, "ops.x", "import termvisor.actions.executor", ["termvisor.actions.executor"]),
        (
            find_ungated_imports,
            "daemon.x",
            "import termvisor.actions.notifications.webhook",
            ["termvisor.actions.notifications.webhook"],
        ),
        (find_frontend_imports, "frontends.x", "import termvisor.daemon.assembly", ["termvisor.daemon.assembly"]),
        (find_frontend_imports, "client", "from ..termvisor import store", ["termvisor.store"]),
        (
            find_operation_imports,
            "ops.x",
            "import termvisor.store.sqlite.database\nOP = Operation()",
            ["termvisor.store.sqlite.database"],
        ),
        (
            find_operation_imports,
            "ops.x",
            "import termvisor.daemon.lifecycle\nOP = Operation()",
            ["termvisor.daemon.lifecycle"],
        ),
        (find_recorder_imports, "recorder.x", "import json", ["json"]),
    ],
)
def test_a_forbidden_import_is_found(
    check: Callable[[Module], list[str]], name: str, line: str, found: list[str]
) -> None:
    assert check(sample(line, f"termvisor.{name}")) == found


@pytest.mark.parametrize(
    ("check", "name", "line"),
    [
        (find_impure_imports, "capture.x", "import asyncio"),
        (find_impure_imports, "terminal.x", "import timeit"),
        (
            find_ungated_imports,
            "actions.gate",
            "import termvisor.actions.executor, termvisor.backends.pane_control, termvisor.llm",
        ),
        (find_ungated_imports, "daemon.assembly", "import termvisor.backends.pane_control"),
        (find_ungated_imports, "backends.tmux.input", "import termvisor.backends.pane_control"),
        (find_ungated_imports, "agents.adapters.codex.queue", "import termvisor.agents.adapters.codex.keyboard"),
        (
            find_frontend_imports,
            "frontends.cli.x",
            "import termvisor.client, termvisor.daemon.lifecycle, termvisor.model",
        ),
        (
            find_operation_imports,
            "ops.x",
            "import termvisor.ops.api.services, termvisor.model.terminal.pane\nOP = Operation()",
        ),
        (find_recorder_imports, "recorder.compressed_segment", "import zstandard"),
    ],
)
def test_an_allowed_import_is_accepted(check: Callable[[Module], list[str]], name: str, line: str) -> None:
    assert check(sample(line, f"termvisor.{name}")) == []


def lint(source: Path) -> subprocess.CompletedProcess[str]:
    """Check the contracts of pyproject.toml on a source tree."""
    command = [Path(sys.executable).with_name("lint-imports"), "--no-logo", "--no-cache"]
    env = {"PYTHONPATH": str(source), "PATH": ""}
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)


BAD = {
    "terminal/bad_clock.py": "import time",
    "capture/bad_driver.py": "import apsw",
    "model/bad_layer.py": "import termvisor.errors",
    "terminal/bad_sibling.py": "import termvisor.search",
    "ops/bad_store.py": "import termvisor.store",
    "recorder/bad_import.py": "import termvisor.model",
    "daemon/bad_notifier.py": "import termvisor.actions.notifications.webhook",
    "daemon/bad_keyboard.py": "import termvisor.agents.adapters.codex.keyboard",
}


@pytest.mark.parametrize("files", [BAD, {"utilities.py": ""}], ids=["imports", "place"])
def test_a_broken_contract_is_found(tmp_path: Path, files: dict[str, str]) -> None:
    shutil.copytree(SOURCE / "termvisor", tmp_path / "termvisor", ignore=shutil.ignore_patterns("__pycache__"))
    for path, line in files.items():
        (tmp_path / "termvisor" / path).write_text(line + "\n")
    result = lint(tmp_path)
    assert result.returncode == 1, result.stdout
    assert [path for path in files if Path(path).stem not in result.stdout] == [], result.stdout
