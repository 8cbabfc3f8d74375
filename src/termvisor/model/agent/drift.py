"""A Drift is a sign that an agent program is no longer as we know it: what we say of it may rest on less."""

from typing import Literal

from msgspec import Struct

from termvisor.model.ids import PaneId, RuntimeId

DriftKind = Literal[
    "unseen_version",  # we have no recording of this version
    "strange_screens",  # it speaks, and its screens look like nothing we know
    "unseen_dialogs",  # it says that it waits for a person, time and again, and no rule knows the dialog any more
    "silent_signals",  # its screen works on, and it has stopped telling so
]


class AgentDrift(Struct, frozen=True, kw_only=True):
    agent: str
    kind: DriftKind
    pane: PaneId
    runtime: RuntimeId
    version: str = ""
    """The program's own; empty where it was not told."""
    since: int
    recorded: tuple[str, ...] = ()
    """The versions of which we have recordings."""

    @property
    def key(self) -> tuple[str, DriftKind, str]:
        """The same for as long as it is the same news."""
        return self.agent, self.kind, self.version

    @property
    def description(self) -> str:
        """In words, after the agent's name."""
        named = f"version {self.version}" if self.version else "a version that it did not tell"
        if self.kind == "unseen_version":
            return f"{named} was never recorded, only {', '.join(self.recorded)}"
        if self.kind == "strange_screens":
            return f"{named}: its screens are no longer recognised while it speaks itself"
        if self.kind == "unseen_dialogs":
            return f"{named}: its dialogs are no longer recognised on its screen, only by its own word"
        return f"{named}: it has stopped speaking itself while its screen shows work"
