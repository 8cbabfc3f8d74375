"""Entry points of installed packages, read without importlib.metadata."""

import json

from termvisor import plugins

TEXT = """\
[console_scripts]
toy = toy:main

[termvisor.agents]
# a comment
toy = json:JSONDecoder.decode
broken = no_such_module_at_all:ADAPTER

[termvisor.checks]
other = json:dumps
"""


def write_package(folder, name: str, text: str) -> str:
    (folder / f"{name}-1.0.dist-info").mkdir()
    (folder / f"{name}-1.0.dist-info" / "entry_points.txt").write_text(text)
    return str(folder)


def test_entry_points_of_a_kind_are_found_by_name(tmp_path):
    path = write_package(tmp_path, "toy", TEXT)
    assert plugins.find_entry_points("agents", [path]) == {
        "toy": "json:JSONDecoder.decode",
        "broken": "no_such_module_at_all:ADAPTER",
    }
    assert plugins.find_entry_points("checks", [path]) == {"other": "json:dumps"}
    assert plugins.find_entry_points("rules", [path]) == {}


def test_a_plugin_that_fails_to_load_is_logged_and_skipped(tmp_path, caplog):
    found = plugins.load_plugins("agents", [write_package(tmp_path, "toy", TEXT)])
    assert found == {"toy": json.JSONDecoder.decode}
    assert "cannot load agents plug-in broken: ModuleNotFoundError" in caplog.text


def test_missing_folders_and_packages_without_entry_points_are_skipped(tmp_path):
    (tmp_path / "bare-1.0.dist-info").mkdir()
    assert plugins.find_entry_points("agents", [str(tmp_path), str(tmp_path / "nowhere")]) == {}


def test_a_plugin_that_raises_system_exit_is_skipped(tmp_path, monkeypatch):
    (tmp_path / "quits_at_once.py").write_text("raise SystemExit(3)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    path = write_package(tmp_path, "quits", "[termvisor.agents]\nquits = quits_at_once:ADAPTER\n")
    assert plugins.read_plugins("agents", [path]) == ({}, {"quits": "SystemExit: 3"})
