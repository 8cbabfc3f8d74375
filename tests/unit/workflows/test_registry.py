"""The workflow registry."""

import os

from termvisor.testing.workflow_scene import WorkflowScene
from termvisor.workflows.registry import WorkflowRegistry
from termvisor.workflows.workflow import Workflow

STEPS = "steps: [{send: hello}]\n"


async def nothing(_context) -> None:
    return None


def test_changed_files_are_reloaded_and_an_invalid_one_is_skipped(tmp_path):
    shelf = WorkflowRegistry(str(tmp_path / "workflows"), [Workflow(name="own", summary="", run=nothing)])
    assert [one.name for one in shelf.list_workflows()] == ["own"]
    folder = tmp_path / "workflows"
    folder.mkdir()
    (folder / "a.yaml").write_text(f"name: a\n{STEPS}")
    (folder / "b.toml").write_text('name = "b"\n[[steps]]\nsend = "x"\n')
    (folder / "c.yaml").write_text("name: c\nsteps: [{sned: x}]\n")
    (folder / "readme.txt").write_text("no workflow")
    assert [one.name for one in shelf.list_workflows()] == ["a", "b", "own"]
    assert [os.path.basename(one.file) for one in shelf.problems] == ["c.yaml"]
    before = shelf.find("a").version
    (folder / "a.yaml").write_text(f"name: a\nsummary: other\n{STEPS}")
    assert shelf.find("a").version != before
    assert shelf.find("a", before) is None
    (folder / "c.yaml").unlink()
    shelf.list_workflows()
    assert shelf.problems == ()


def test_a_broken_link_or_a_pipe_does_not_affect_other_files(tmp_path):
    (tmp_path / "a.yaml").write_text(f"name: a\n{STEPS}")
    (tmp_path / "gone.yaml").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe.yaml")
    shelf = WorkflowRegistry(str(tmp_path), [])
    assert [one.name for one in shelf.list_workflows()] == ["a"]
    assert [os.path.basename(one.file) for one in shelf.problems] == ["gone.yaml", "pipe.yaml"]


def test_a_workflow_name_is_unique(tmp_path):
    (tmp_path / "a.yaml").write_text(f"name: own\n{STEPS}")
    shelf = WorkflowRegistry(str(tmp_path), [Workflow(name="own", summary="built-in", run=nothing)])
    assert [one.summary for one in shelf.list_workflows()] == ["built-in"]
    assert "the workflow 'own' already exists (built-in)" in shelf.problems[0].why


def test_a_missing_folder_has_no_workflows():
    assert WorkflowScene().registry.list_workflows() == []
