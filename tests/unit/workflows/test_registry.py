"""The workflows that there are."""

import os

from termvisor.testing.workflow_scene import WorkflowScene
from termvisor.workflows.registry import WorkflowRegistry
from termvisor.workflows.workflow import Workflow

STEPS = "steps: [{send: hello}]\n"


async def nothing(_context) -> None:
    return None


def test_files_are_read_anew_when_they_change_and_a_wrong_one_is_left_out(tmp_path):
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


def test_a_link_that_leads_nowhere_or_a_pipe_takes_no_other_file_with_it(tmp_path):
    (tmp_path / "a.yaml").write_text(f"name: a\n{STEPS}")
    (tmp_path / "gone.yaml").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe.yaml")
    shelf = WorkflowRegistry(str(tmp_path), [])
    assert [one.name for one in shelf.list_workflows()] == ["a"]
    assert [os.path.basename(one.file) for one in shelf.problems] == ["gone.yaml", "pipe.yaml"]


def test_a_name_is_taken_once(tmp_path):
    (tmp_path / "a.yaml").write_text(f"name: own\n{STEPS}")
    shelf = WorkflowRegistry(str(tmp_path), [Workflow(name="own", summary="built-in", run=nothing)])
    assert [one.summary for one in shelf.list_workflows()] == ["built-in"]
    assert "there is a workflow 'own' already (built-in)" in shelf.problems[0].why


def test_a_folder_that_is_not_there_holds_nothing():
    assert WorkflowScene().registry.list_workflows() == []
