"""Record the samples that `make test` decodes: some runs of every group, and all byte sequences in two sizes.

Run after `.ci/setup live`: `.venv/bin/python -m tests.live.text_differential.record_samples`. Then read the
differences: a changed text means that a program changed, or that another tmux shows it differently.
"""

import json
import socket
from pathlib import Path

from msgspec.structs import replace

from termvisor.testing.private_tmux import make_short_folder, run_private_tmux
from tests.live.text_differential.pane_driver import PaneDriver
from tests.live.text_differential.pane_recorder import record_runs
from tests.live.text_differential.scenario import expand_runs
from tests.live.text_differential.sequences import SAMPLE_SIZES, SCENARIOS
from tests.live.text_differential.table import SAMPLE_RUNS
from tests.live.text_differential.table import SCENARIOS as ALL_SCENARIOS
from tests.live.text_differential.work_folder import ROOT, make_work_folder, prepare_server
from tests.recordings.terminal_recording import RECORDINGS_FOLDER, Recording, write_recording

NEUTRAL_FOLDER = "/tmp/tv-recorded"


def main() -> None:
    runs = [run for run in expand_runs(ALL_SCENARIOS) if run.name in SAMPLE_RUNS or _is_sampled_sequence(run)]
    with make_short_folder() as folder, run_private_tmux(folder) as tmux:
        prepare_server(tmux)
        with make_work_folder(Path(folder)) as environment:
            driver = PaneDriver(tmux, Path(folder), environment)
            recorded = [remove_folder(recording, folder) for _, recording in record_runs(driver, runs)]
    RECORDINGS_FOLDER.mkdir(exist_ok=True)
    for recording in recorded:
        if recording.name in SAMPLE_RUNS:
            refuse_local_names(recording)
            write_recording(recording, RECORDINGS_FOLDER / f"{recording.name}.json")
    texts = {one.name.removeprefix("seq_"): one.text for one in recorded if one.name.startswith("seq_")}
    (RECORDINGS_FOLDER.parent / "terminal_sequences.json").write_text(
        json.dumps(dict(sorted(texts.items())), indent=0) + "\n"
    )


def _is_sampled_sequence(run) -> bool:
    return run.scenario in SCENARIOS and (run.width, run.height) in SAMPLE_SIZES


def remove_folder(recording: Recording, folder: str) -> Recording:
    """Return the recording with another folder name of the same length, so that nothing moves."""
    assert len(folder) == len(NEUTRAL_FOLDER), folder
    return replace(
        recording,
        output=recording.output.replace(folder.encode(), NEUTRAL_FOLDER.encode()),
        text=tuple(line.replace(folder, NEUTRAL_FOLDER) for line in recording.text),
    )


def refuse_local_names(recording: Recording) -> None:
    """Raise AssertionError if the output names this machine, its user's folders or this checkout."""
    names = (socket.gethostname(), str(Path.home()), str(ROOT), "/home/")
    found = [name for name in names if name.encode() in recording.output]
    assert not found, f"{recording.name}: {found}"


if __name__ == "__main__":
    main()
