"""Output values: byte offsets, gaps and the ends of epochs."""

from typing import get_args

from termvisor.model.ids import EpochId
from termvisor.model.terminal.output import GAP_CAUSES, Delta, EpochEnd

PROMISED = (
    *("pipe_stolen", "pipe_closed", "recorder_restart", "client_paused", "server_gone", "scrollback_truncated"),
    *(
        "cursor_jump",
        "pane_reset",
        "link_down",
        "disk_full",
        "descriptors_exhausted",
        "log_truncated",
        "tail_uncertain",
    ),
)


def test_delta_end_is_the_offset_of_the_next() -> None:
    first = Delta(EpochId(1), 10, b"abc", at=0)
    assert first.end == 13
    assert Delta(EpochId(1), first.end, b"", at=0).end == 13


def test_the_causes_of_gaps_are_a_closed_list() -> None:
    assert GAP_CAUSES == PROMISED


def test_an_epoch_ends_by_a_gap_or_by_an_end_after_which_nothing_is_missing() -> None:
    assert set(get_args(EpochEnd)) - set(GAP_CAUSES) == {"joined", "pane_exited", "stopped"}
