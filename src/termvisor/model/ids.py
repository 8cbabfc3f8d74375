"""Typed ids, so that a pane is never mistaken for an epoch."""

from typing import NewType

PaneId = NewType("PaneId", int)
"""Our number for one pane instance; never reused."""

EpochId = NewType("EpochId", int)
"""One unbroken stretch of a pane's stream; the name of its folder of segments."""

EventId = NewType("EventId", int)
SightingId = NewType("SightingId", int)
"""A row that a repainting screen showed; never reused."""

ScreenId = NewType("ScreenId", int)
"""A stored screen; never reused. 0 is one that is not stored."""

CommandId = NewType("CommandId", int)
"""One command that a shell ran; rises in the order in which they started."""

RuntimeId = NewType("RuntimeId", int)
"""One agent process in a pane; never reused."""

SignalId = NewType("SignalId", int)
"""One stored piece of evidence; rises in the order in which they were stored."""

SessionId = NewType("SessionId", int)
"""One conversation of an agent; rises in the order in which they began."""

MuxPaneId = NewType("MuxPaneId", str)
"""What the multiplexer calls the pane, for example ``%5``."""

TargetName = NewType("TargetName", str)
