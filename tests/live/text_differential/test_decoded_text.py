"""Real programs in panes of the real tmux: the decoded text is the text that tmux shows."""

from functools import partial
from pathlib import Path

import pytest

from tests.live.text_differential.comparison import DifferentialReport, compare_texts
from tests.live.text_differential.pane_driver import PaneDriver
from tests.live.text_differential.pane_recorder import record_runs, render
from tests.live.text_differential.scenario import expand_runs
from tests.live.text_differential.table import SCENARIOS
from tests.live.text_differential.work_folder import make_work_folder, prepare_server
from tests.recordings.terminal_recording import decode_recording

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]


@pytest.fixture
def driver(folder, tmux):
    prepare_server(tmux)
    with make_work_folder(Path(folder)) as environment:
        yield PaneDriver(tmux, Path(folder), environment)


def test_the_decoded_text_of_real_programs_is_what_tmux_shows(driver, folder, record_property):
    show = partial(render, driver, Path(folder))
    recordings = list(record_runs(driver, expand_runs(SCENARIOS)))
    report = DifferentialReport(
        compare_texts(run, recording, decode_recording(recording), show) for run, recording in recordings
    )
    record_property("text differential, decoder", report.summarize())
    report.require_equal_text()
