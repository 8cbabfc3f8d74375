"""Typed ids, so that a pane is never mistaken for an epoch."""

from typing import NewType

PaneId = NewType("PaneId", int)
"""Our number for one pane instance; never reused."""

EpochId = NewType("EpochId", int)
"""One unbroken stretch of a pane's stream; the name of its folder of segments."""

EventId = NewType("EventId", int)
MuxPaneId = NewType("MuxPaneId", str)
"""What the multiplexer calls the pane, for example ``%5``."""

TargetName = NewType("TargetName", str)
