"""A newer node is installed only for a package that demands it."""

import json
from pathlib import Path

import pytest

from tests.live.versions import node_runtime
from tests.live.versions.node_runtime import NODE_PACKAGE, choose_node, find_needed_major


@pytest.mark.parametrize(
    ("engines", "major"),
    [
        ("", None),
        ("*", None),
        (">=18", None),
        (">=20.20.0", None),
        (">= 20.21", 20),
        (">=22.19.0", 22),
        ("^20.19.0 || >=22.12.0", None),
        ("^18.0.0 || >=22.12.0", 22),
        ("^18.0.0", 18),
        ("^22 || ^24", 22),
        (">=22 <25", 22),
        ("v22", 22),
    ],
)
def test_the_installed_node_is_used_if_it_is_allowed(engines, major):
    assert find_needed_major(engines, (20, 20)) == major


@pytest.mark.parametrize(
    ("engines", "is_newer"), [({"node": ">=22.19.0"}, True), ({"node": ">=18"}, False), (None, False)]
)
def test_a_newer_node_comes_from_the_registry_into_the_same_prefix(monkeypatch, tmp_path, engines, is_newer):
    monkeypatch.setattr(node_runtime, "_read_installed_release", lambda: (20, 20))
    program = tmp_path / "node_modules/agent/dist/cli.js"
    program.parent.mkdir(parents=True)
    (program.parents[1] / "package.json").write_text(json.dumps({"engines": engines}))
    installed: list[tuple[Path, list[str]]] = []
    node = choose_node(program, tmp_path, lambda prefix, names: installed.append((prefix, names)) or True)
    path = str(tmp_path / "node_modules" / NODE_PACKAGE / "bin/node")
    assert (node, installed) == ((path, [(tmp_path, [f"{NODE_PACKAGE}@22"])]) if is_newer else ("node", []))


def test_a_node_that_cannot_be_installed_is_an_error(monkeypatch, tmp_path):
    monkeypatch.setattr(node_runtime, "_read_installed_release", lambda: (20, 20))
    (tmp_path / "package.json").write_text('{"engines": {"node": ">=22"}}')
    with pytest.raises(AssertionError, match="needs node 22"):
        choose_node(tmp_path / "cli.js", tmp_path, lambda _prefix, _names: False)
