"""The workflow registry."""

import os

import pytest

from termvisor.clock import NS
from termvisor.model.detection.detection import Detection
from termvisor.model.ids import EventId, PaneId, RuntimeId
from termvisor.model.workflow import Run, RunStep, WorkflowFileProblem
from termvisor.testing.workflow_scene import WorkflowScene
from termvisor.workflows.registry import WorkflowRegistry, build_run, match_workflows
from termvisor.workflows.workflow import Trigger, Workflow

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


NOW = 1000 * NS


def build_detection(**more) -> Detection:
    known = {"event": EventId(7), "at": NOW, "type": "usage.reached", "rule": "codex.usage.reached", "pane": PaneId(3)}
    return Detection(source="stream", **(known | more))


def workflow(name: str, **trigger) -> Workflow:
    async def run(_context) -> None:
        return None

    priority = trigger.pop("priority", 100)
    events = trigger.pop("events", ("usage.*",))
    return Workflow(name=name, summary="", run=run, priority=priority, trigger=Trigger(events=events, **trigger))


def on(_name: str) -> str:
    return "on"


def test_the_lowest_priority_wins_then_the_name_and_the_others_are_noted():
    shelf = [workflow("c"), workflow("b"), workflow("z", priority=1)]
    assert [matching.name for matching in match_workflows(build_detection(), shelf, on, NOW)] == ["z", "b", "c"]


@pytest.mark.parametrize(
    "trigger",
    [
        {"events": ()},
        {"events": ("session.*",)},
        {"agents": ("claude_code",)},
        {"rules": ("claude.*",)},
        {"severity": "error"},
    ],
)
def test_a_workflow_that_does_not_match_is_not_chosen(trigger):
    assert (
        match_workflows(build_detection(agent="codex", severity="warning"), [workflow("a", **trigger)], on, NOW) == []
    )


def test_old_or_unproven_events_and_disabled_workflows_start_nothing():
    shelf = [workflow("a", fresh_for=60.0)]
    assert match_workflows(build_detection(at=NOW - 61 * NS), shelf, on, NOW) == []
    assert match_workflows(build_detection(evidence={"proven": False}), shelf, on, NOW) == []
    assert match_workflows(build_detection(), shelf, lambda _name: "off", NOW) == []


def test_a_run_has_its_event_and_captures():
    detection = build_detection(captures={"try_again_at": "3 PM"}, evidence={"resets_at": 5}, agent="codex")
    run = build_run(detection, workflow("a"), "ask", NOW, [workflow("b")])
    assert (run.event, run.pane, run.agent, run.mode) == (7, 3, "codex", "ask")
    assert run.correlation == "event:7", "as the stored event has it"
    assert run.facts == {"try_again_at": "3 PM", "also_fits": "b", "resets_at": 5}


@pytest.mark.parametrize(("age", "is_fresh"), [(0, True), (60 * NS, True), (60 * NS + 1, False)])
def test_an_event_starts_a_workflow_while_it_is_fresh(age, is_fresh):
    found = match_workflows(
        build_detection(), [workflow("a", events=("usage.reached",), fresh_for=60.0)], lambda _name: "on", NOW + age
    )
    assert [one.name for one in found] == ["a"] * is_fresh


def test_a_run_knows_the_event_that_started_it():
    detection = build_detection(
        runtime=RuntimeId(4), agent="codex", captures={"plan": "pro"}, evidence={"resets_at": 5, "line": 6}
    )
    first, other = workflow("a", events=("usage.reached",)), workflow("b", events=("usage.reached",))
    run = build_run(detection, first, "ask", NOW + 1, [other])
    assert run == Run(
        workflow="a", version=first.version, origin="event", event=EventId(7), pane=PaneId(3), runtime=RuntimeId(4),
        agent="codex", status="waiting", why="waiting for its turn", at=NOW + 1, correlation="event:7", mode="ask",
        facts={"plan": "pro", "also_fits": "b", "resets_at": 5},
    )  # fmt: skip


def test_a_run_whose_file_became_invalid_says_why(tmp_path):
    (tmp_path / "first.yaml").write_text(f"name: a\n{STEPS}")
    (tmp_path / "never.read.yaml").write_text("name: c\nsteps: []\n")
    registry = WorkflowRegistry(str(tmp_path), [])
    registry.list_workflows()
    (tmp_path / "first.yaml").write_text("name: a\nsteps: []\n# longer than before\n")
    registry.list_workflows()
    places = {name: str(tmp_path / name) for name in ("first.yaml", "never.read.yaml")}
    assert registry.problems == tuple(
        WorkflowFileProblem(file=path, why=f"{path}:2: a list of steps is required here", name=name)
        for path, name in ((places["first.yaml"], "a"), (places["never.read.yaml"], "never.read"))
    )
    run = Run(workflow="a", at=1, correlation="c", pane=PaneId(3))
    why = f"a no longer exists ({places['first.yaml']}:2: a list of steps is required here)"
    assert registry.describe_missing_workflow(run, []) == f"{why}; the run stopped before its first step"


@pytest.mark.parametrize(
    ("steps", "pane", "expected"),
    [
        ([], None, "before its first step; `visor workflow run own --force` starts it again"),
        ([RunStep(number=0, kind="now", at=1)], 3, "at step 0 (now); `visor workflow run own 3 --force` starts it"),
        ([RunStep(number=2, kind="act", name="send", at=1)], 3, "at step 2 (act send); `visor workflow run own 3"),
    ],
)
def test_a_run_of_a_changed_workflow_says_where_it_stopped(steps, pane, expected):
    registry = WorkflowRegistry("/nowhere", [Workflow(name="own", summary="", run=nothing)])
    found = registry.describe_missing_workflow(Run(workflow="own", at=1, correlation="c", pane=pane), steps)
    assert found.startswith(f"own was changed after this run started; the run stopped {expected}")
