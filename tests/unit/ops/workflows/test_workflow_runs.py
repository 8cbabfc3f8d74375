import pytest
from msgspec.structs import replace

from termvisor.model.workflow import Run, RunId, RunStep
from termvisor.ops.render.text import RenderOptions
from termvisor.ops.workflows._workflow_runs import (
    RunChangeResult,
    build_run_item,
    build_step_item,
    format_headline,
    format_step_value,
    render_run_change,
)

RUN = Run(id=RunId(3), workflow="w", pane=7, at=1_000_000_000, correlation="c", facts={"a": "b", "n": 1})


def test_a_run_is_formatted_in_one_line() -> None:
    item = build_run_item(
        replace(RUN, status="waiting", why="it waits for a time", due_at=9_000_000_000), 3_000_000_000
    )
    assert (
        format_headline(item, RenderOptions(width=0))
        == "run 3 (w in pane 7) is waiting: it waits for a time, continues at 1970-01-01T00:00:09.000Z"
    )
    assert (item.age, item.facts) == (2.0, {"a": "b", "n": 1})


def test_run_and_step_items_are_redacted() -> None:
    secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"
    item = build_run_item(replace(RUN, why=secret, plan=secret, facts={"x": secret}), 1)
    step = build_step_item(RunStep(number=0, kind="act", given=f'{{"t":"{secret}"}}', came="no json", at=1, why=secret))
    assert secret not in f"{item}{step}"
    assert step.came == "no json"


def test_a_paused_run_names_the_resume_command() -> None:
    item = build_run_item(replace(RUN, status="paused", why="held: lunch", due_at=9_000_000_000), 3_000_000_000)
    assert (
        format_headline(item, RenderOptions(width=0))
        == "run 3 (w in pane 7) is paused: held: lunch; resume it with `visor workflow resume 3`"
    )


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"type": "act", "wish": {"type": "send", "text": "hello", "enter": False}}, "text: hello, enter: no"),
        ({"type": "sleep_until", "at": 9_000_000_000}, "at: 1970-01-01T00:00:09.000Z"),
        ({"type": "act", "wish": {"type": "spawn", "command": ["make", "test"]}}, "command: make test"),
        ({"quiet": 2.0}, "quiet: 2"),
        ({"type": "now"}, "-"),
        (None, "-"),
    ],
)
def test_the_input_of_a_step_is_formatted_as_text(value, expected) -> None:
    assert format_step_value(value) == expected


def test_a_changed_run_is_one_line() -> None:
    result = RunChangeResult(run=build_run_item(Run(id=RunId(3), workflow="w", at=1, correlation="c"), 1))
    assert render_run_change(result, RenderOptions()) == "run 3 (w) is running"
