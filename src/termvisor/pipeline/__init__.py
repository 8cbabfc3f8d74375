"""THE MAP: start reading here. How bytes in the raw log become text that can be found.

    recorder ─► raw log ─► SegmentReader ─► TextStage ─► Redactor ─► blocks ─► Store ─► news
                 (the truth)     bytes       lines, marks   no secrets   rows    one transaction
                                                │ stirs
                   multiplexer ◄─► Eyes ◄───────┘
                                    ├─ looks ─► Sightings ─► Redactor ─► rows, screens ─► Store ─► news
    processes, agents' files, hooks, marks, looks ─► knowing ─► facts, states, sessions ─► Store ─► news

What comes in: which epochs exist and that they grew. What goes out: committed blocks and marks, then the news of them.
The text of an epoch and the offset it was read up to are stored in one transaction, so a killed daemon reads again from
exactly there: nothing is lost and nothing is stored twice. What agents are doing is known in `knowing`, in the same
spirit: a fact, and the states that follow from it, are stored in one transaction and told after it.
"""

from termvisor.pipeline.epoch_reader import EpochReader, get_activity
from termvisor.pipeline.pipeline import Pipeline
from termvisor.pipeline.screen_rows import SightingRecorder

__all__ = ["EpochReader", "Pipeline", "SightingRecorder", "get_activity"]
