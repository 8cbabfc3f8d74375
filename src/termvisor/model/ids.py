"""Typed ids, so that the type checker tells a pane from an epoch."""

from typing import NewType

PaneId = NewType("PaneId", int)
"""Termvisor's id of one pane instance; never reused."""

EpochId = NewType("EpochId", int)
"""One continuous capture of a pane's stream; also the name of its folder of segments."""

EventId = NewType("EventId", int)
SightingId = NewType("SightingId", int)
"""A stored row of a full-screen program; never reused."""

ScreenId = NewType("ScreenId", int)
"""A stored screen; never reused. 0 means not stored."""

CommandId = NewType("CommandId", int)
"""One shell command; ids rise in the order of their start."""

RuntimeId = NewType("RuntimeId", int)
"""One agent process in a pane; never reused."""

SignalId = NewType("SignalId", int)
"""One stored signal; ids rise in the order of storing."""

SessionId = NewType("SessionId", int)
"""One session of an agent; ids rise in the order of their start."""

MuxPaneId = NewType("MuxPaneId", str)
"""The multiplexer's id of a pane, for example ``%5``."""

TargetName = NewType("TargetName", str)
