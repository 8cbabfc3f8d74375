from msgspec.structs import replace

from termvisor.model.run import Run, RunId, Step
from termvisor.ops.run_item import headline, run_item, step_item

RUN = Run(id=RunId(3), workflow="w", pane=7, at=1_000_000_000, correlation="c", facts={"a": "b", "n": 1})


def test_a_run_in_one_line() -> None:
    item = run_item(replace(RUN, status="waiting", why="it waits for a time", due_at=9_000_000_000), 3_000_000_000)
    assert headline(item) == "run 3 (w in pane 7) is waiting: it waits for a time, goes on at 1970-01-01T00:00:09.000Z"
    assert (item.age, item.facts) == (2.0, {"a": "b", "n": 1})


def test_secrets_are_told_nowhere() -> None:
    secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"
    item = run_item(replace(RUN, why=secret, plan=secret, facts={"x": secret}), 1)
    step = step_item(Step(number=0, kind="act", given=f'{{"t":"{secret}"}}', came="no json", at=1, why=secret))
    assert secret not in f"{item}{step}"
    assert step.came == "no json"
