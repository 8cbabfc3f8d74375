"""The contract of an extractor (`Extractor`): patterns only, so that a new one needs no code."""

import re

from msgspec import Struct


class Capture(Struct, frozen=True, kw_only=True):
    """A named part of the output; the value is the group ``value`` of the pattern, which is matched line by line."""

    name: str
    pattern: str
    is_secret: bool = False
    """The value is stored in a private file and masked everywhere else."""


class Extractor(Struct, frozen=True, kw_only=True):
    name: str
    command: str
    """A pattern for the command lines it is for."""
    detectors: tuple[str, ...] = ()
    """Patterns of the prompts at which the command waits."""
    captures: tuple[Capture, ...] = ()

    @property
    def redactors(self) -> tuple[str, ...]:
        """The patterns of the secret captures, as the redactor takes them."""
        return tuple(
            capture.pattern.replace("(?P<value>", "(?P<secret>") for capture in self.captures if capture.is_secret
        )

    def extract(self, text: str) -> dict[str, str]:
        """Return the captures found in a text, the last of each name."""
        found: dict[str, str] = {}
        for capture in self.captures:
            for match in re.finditer(capture.pattern, text, re.MULTILINE):
                found[capture.name] = match["value"]
        return found

    def is_secret(self, name: str) -> bool:
        return any(capture.name == name and capture.is_secret for capture in self.captures)
