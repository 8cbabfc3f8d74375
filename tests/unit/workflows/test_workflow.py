"""Installed workflows."""

import pytest

from termvisor.workflows import workflow
from termvisor.workflows.registry import WorkflowRegistry
from termvisor.workflows.workflow import Workflow


async def nothing(_context) -> None:
    return None


MINE = Workflow(name="mine", summary="", run=nothing)


def test_workflows_of_other_packages_are_loaded_and_other_values_are_skipped(monkeypatch, caplog):
    found = {"mine": MINE, "again": MINE, "odd": 7}
    monkeypatch.setattr(workflow, "read_plugins", lambda kind: (found, {"broken": "ImportError: no"}))
    workflows, troubles = workflow.load_installed_workflows()
    assert [one.name for one in workflows] == [*workflow.BUILTIN, "mine"]
    assert list(troubles) == ["broken", "again", "odd"]
    assert WorkflowRegistry("/nowhere").problems[0].why == "entry point broken: it cannot be loaded: ImportError: no"
    assert "the name mine is already used" in caplog.text
    assert "it is not a Workflow" in caplog.text


@pytest.mark.parametrize("name", workflow.BUILTIN)
def test_a_built_in_workflow_is_named_as_its_file_and_its_mode_is_ask(name):
    (found,) = [one for one in workflow.load_installed_workflows()[0] if one.name == name]
    assert found.mode in ("ask", "off")
    assert found.summary
