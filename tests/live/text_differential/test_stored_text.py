"""Real programs in panes that a daemon watches: the stored text is the text that tmux shows."""

from functools import partial
from pathlib import Path

import pytest

from tests.live.text_differential.comparison import DifferentialReport, compare_texts
from tests.live.text_differential.pane_driver import PaneDriver
from tests.live.text_differential.pane_recorder import render
from tests.live.text_differential.scenario import expand_runs
from tests.live.text_differential.stored_panes import StoredPanes
from tests.live.text_differential.table import SCENARIOS, STORED_RUNS
from tests.live.text_differential.work_folder import make_work_folder, prepare_server

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]


@pytest.fixture
def driver(folder, scene):
    prepare_server(scene.tmux)
    with make_work_folder(Path(folder)) as environment:
        yield PaneDriver(scene.tmux, Path(folder), environment)


def test_the_stored_text_of_real_programs_is_what_tmux_shows(scene, driver, folder, record_property):
    runs = [run for run in expand_runs(SCENARIOS) if run.name in STORED_RUNS]
    assert {run.name for run in runs} == STORED_RUNS
    stored = StoredPanes(scene, driver, Path(folder))
    recordings = stored.record_runs(runs)
    texts = stored.read_texts({run.name: recording.text for run, recording in recordings})
    show = partial(render, driver, Path(folder))
    report = DifferentialReport(compare_texts(run, recording, texts[run.name], show) for run, recording in recordings)
    record_property("text differential, daemon", report.summarize())
    report.require_equal_text()
