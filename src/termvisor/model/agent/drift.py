"""Drift: signs that an agent program changed, so that its states rest on less evidence."""

from typing import Literal

from msgspec import Struct

from termvisor.model.ids import PaneId, RuntimeId

DriftKind = Literal[
    "unseen_version",  # there is no recording of this version
    "strange_screens",  # native sources report, but no rule matches its screens
    "unseen_dialogs",  # it reports waiting repeatedly, but no rule matches the dialog
    "silent_signals",  # its screen shows work, but the native sources stopped reporting
]


class AgentDrift(Struct, frozen=True, kw_only=True):
    agent: str
    kind: DriftKind
    pane: PaneId
    runtime: RuntimeId
    version: str = ""
    """The program version; empty if unknown."""
    since: int
    recorded: tuple[str, ...] = ()
    """The versions with recordings."""

    @property
    def key(self) -> tuple[str, DriftKind, str]:
        """Equal for the same drift, so that it is reported once."""
        return self.agent, self.kind, self.version

    @property
    def description(self) -> str:
        """Describe the drift for the user, to follow the agent's name."""
        version = f"version {self.version}" if self.version else "unknown version"
        if self.kind == "unseen_version":
            return f"{version} has no recordings, only {', '.join(self.recorded)}"
        if self.kind == "strange_screens":
            return f"{version}: no rule matches its screens, although it reports signals"
        if self.kind == "unseen_dialogs":
            return f"{version}: no rule matches its dialogs on the screen, only its own signals report them"
        return f"{version}: it stopped sending signals while its screen shows work"
