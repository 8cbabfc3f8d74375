"""Versions of agent programs: their form, and how a running one relates to the recorded ones."""

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct

VERSION_PATTERN = r"[0-9]{1,6}(?:\.[0-9]{1,6}){1,3}(?:[-+][0-9A-Za-z][0-9A-Za-z.+-]{0,39})?"
_VERSION = re.compile(VERSION_PATTERN)
# Packages with a native program append the platform: `0.142.5-linux-x64`.
_PLATFORM = re.compile(r"-(?:linux|darwin|win32|windows)-[0-9a-z-]+$")

VersionStatus = Literal[
    "recorded",
    "between_recorded",  # an older and a newer version were recorded
    "unseen",  # older or newer than every recorded version
    "unknown",  # the version could not be found
    "no_recordings",  # no version of this agent was recorded
]


def parse_version(text: str) -> str:
    """Return a version without its platform; empty if the text, which may come from anywhere, has another form."""
    version = _PLATFORM.sub("", text)
    return version if _VERSION.fullmatch(version) else ""


def classify_version(version: str, recorded: Sequence[str]) -> VersionStatus:
    """Return how a version relates to the recorded ones; an empty version is unknown."""
    if not recorded:
        return "no_recordings"
    if version in recorded:
        return "recorded"
    if not parse_version(version):
        return "unknown"
    key, keys = _build_order_key(version), [_build_order_key(one) for one in recorded]
    return "between_recorded" if min(keys) < key < max(keys) else "unseen"


def order_versions(versions: Iterable[str]) -> list[str]:
    """Return the versions, oldest first."""
    return sorted(versions, key=_build_order_key)


def _build_order_key(version: str) -> tuple[tuple[int, ...], bool]:
    """Return a key by which versions are ordered; a pre-release comes before its release."""
    numbers, _, suffix = version.partition("+")[0].partition("-")
    return tuple(int(number) for number in re.findall(r"\d+", numbers)), not suffix


def _name_capability(capability: str) -> str:
    """Return a capability in the words of the user: `screens`, `waiting approval`."""
    return "screens" if capability == "look" else capability.removeprefix("supports_").replace("_", " ")


def _format_versions(versions: Sequence[str]) -> str:
    """Return the versions in their order: all if they are few, else the first and the last."""
    ordered = order_versions(versions)
    return ", ".join(ordered) if len(ordered) < 4 else f"{len(ordered)} versions from {ordered[0]} to {ordered[-1]}"


class ProgramVersion(Struct, frozen=True, kw_only=True):
    """The version of a running agent, and how far its states are backed by recordings."""

    version: str = ""
    status: VersionStatus = "no_recordings"
    recorded: tuple[str, ...] = ()
    """The recorded versions of this agent."""
    unproven: tuple[str, ...] = ()
    """Capabilities that no recording of this version proves."""
    screens: int = 0
    """Different screens of this process that were read since the daemon started."""
    strange_screens: int = 0
    """Those of them that no rule recognized."""

    @property
    def description(self) -> str:
        """Describe the version for the user. The text follows the agent's name."""
        version, others = self.version, _format_versions(self.recorded)
        parts = {
            "recorded": f"version {version} was recorded",
            "between_recorded": f"version {version} was not recorded, but lies between recorded versions ({others})",
            "unseen": f"version {version} has no recordings, only {others}",
            "unknown": f"unknown version; recorded: {others}",
            "no_recordings": f"version {version or 'unknown'}; no version of it was recorded",
        }
        text = parts[self.status]
        if self.unproven:
            text += f"; unproven: {', '.join(map(_name_capability, self.unproven))}"
        if self.strange_screens:
            text += f"; {self.strange_screens} of {self.screens} screens not recognized"
        return text
