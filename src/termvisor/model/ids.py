"""Typed ids, so that the type checker can distinguish a pane from an epoch."""

from typing import NewType

PaneId = NewType("PaneId", int)
"""Termvisor's id of a pane instance; never reused."""

EpochId = NewType("EpochId", int)
"""One continuous capture of a pane's stream. Also the name of its segment folder."""

EventId = NewType("EventId", int)
SightingId = NewType("SightingId", int)
"""A stored row of a full-screen program; never reused."""

ScreenId = NewType("ScreenId", int)
"""A stored screen; never reused. 0 means not stored."""

CommandId = NewType("CommandId", int)
"""A shell command. Ids increase in start order."""

RuntimeId = NewType("RuntimeId", int)
"""An agent process in a pane; never reused."""

SignalId = NewType("SignalId", int)
"""A stored signal. Ids increase in storage order."""

SessionId = NewType("SessionId", int)
"""An agent session. Ids increase in start order."""

MuxPaneId = NewType("MuxPaneId", str)
"""The multiplexer's id of a pane, for example ``%5``."""


JobId = NewType("JobId", int)
"""A job; never reused. Ids increase in the order of creation."""

TargetName = NewType("TargetName", str)
