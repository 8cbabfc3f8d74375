"""Record scenarios: the bytes from tmux's own pipe, the text from tmux's own history."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tests.live.polling import wait_until
from tests.live.text_differential.pane_driver import PaneDriver, PaneRun, describe_stuck, is_overdue
from tests.live.text_differential.scenario import Scenario, ScenarioRun
from tests.recordings.terminal_recording import END_MARK, Recording

_TYPED_AT_ONCE, _AT_ONCE = 100, 30
"""Panes that run at the same time. Those that are typed into mostly wait, and everything that competes delays them."""


def record_runs(driver: PaneDriver, runs: list[ScenarioRun]) -> Iterator[tuple[ScenarioRun, Recording]]:
    """Yield a recording for each run, first those that are typed into."""
    yield from _record([run for run in runs if run.scenario.steps], driver, _TYPED_AT_ONCE)
    yield from _record([run for run in runs if not run.scenario.steps], driver, _AT_ONCE)


def _record(waiting: list[ScenarioRun], driver: PaneDriver, limit: int) -> Iterator[tuple[ScenarioRun, Recording]]:
    active = dict[str, PaneRun]()
    while waiting or active:
        free = limit - len(active)
        batch, waiting = waiting[:free], waiting[free:]
        driver.start(batch, pipe=True)
        for run in batch:
            active[run.name] = PaneRun(run, partial(measure_file, driver.get_raw_file(run)))
        driver.press_keys(active.values())
        ended = sorted(driver.list_ended() & active.keys())
        yield from collect(driver, [active.pop(name) for name in ended])
        overdue = [pane for pane in active.values() if is_overdue(pane)]
        assert not overdue, describe_stuck(overdue, driver)


def collect(driver: PaneDriver, panes: list[PaneRun]) -> Iterator[tuple[ScenarioRun, Recording]]:
    texts = driver.capture([pane.run.name for pane in panes]) if panes else {}
    for pane in panes:
        run, path = pane.run, driver.get_raw_file(pane.run)
        # tmux's own copy of the bytes passes through another process, which may be a moment behind.
        wait_until(lambda path=path: path.exists() and path.read_bytes().endswith(END_MARK))
        output = path.read_bytes().removesuffix(END_MARK)
        path.unlink()
        yield run, pane.build_recording(output, texts[run.name])
    driver.end(texts)


def render(driver: PaneDriver, folder: Path, recording: Recording) -> tuple[str, ...]:
    """Return what tmux shows for the bytes of a recording."""
    path = folder / "rendered"
    path.write_bytes(recording.output)
    command = f"stty raw -echo; cat {path}"
    scenario = Scenario(f"rendered_{recording.name}", "sequences", command)
    [(_, rendered)] = record_runs(driver, [ScenarioRun(scenario, recording.width, recording.height)])
    return rendered.text


def measure_file(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
