"""Decode the raw logs of panes to searchable text and store it. Read pipeline.py first, then epoch_reader.py.

    recorder ─► raw log ─► SegmentReader ─► TextDecoder ─► Redactor ─► blocks ─► Store ─► events
       │                        bytes       lines, marks   no secrets           one transaction
       └─ growth ─► Pipeline                    │ paint activity
                           tmux ◄─► ScreenSampler ─ samples ─► SightingRecorder ─► Redactor ─► rows ─► Store ─► events

In: which epochs exist and how far they grew. Out: committed text, marks, commands and detections, then their events.
Invariant: the text of an epoch and the offset it was read up to are stored in one transaction, so a restarted daemon
continues exactly there: nothing is lost and nothing is stored twice.
"""

from termvisor.pipeline.epoch_reader import EpochReader, get_activity
from termvisor.pipeline.pipeline import Pipeline
from termvisor.pipeline.screen_rows import SightingRecorder

__all__ = ["EpochReader", "Pipeline", "SightingRecorder", "get_activity"]
