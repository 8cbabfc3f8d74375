"""The whole analysis of command lines that differ from each other in one option, name or sign."""

import tomllib
from pathlib import Path

from termvisor.policy.shell import CommandAnalysis
from tests.unit.policy.policy_requests import HOME, analyze_text

EFFECTS: dict[str, str] = tomllib.loads((Path(__file__).parent / "effects.toml").read_text("utf-8"))


def describe(analysis: CommandAnalysis) -> str:
    parts = [" ".join(sorted(analysis.classes))]
    for kind in ("reads", "writes", "removes", "hosts"):
        values = [value.removeprefix(f"{HOME}/src/") for value in getattr(analysis, kind)]
        parts += [" ".join([kind, *values])] if values else []
    return "; ".join(filter(None, parts))


def test_every_line_has_exactly_its_effect() -> None:
    found = {line: describe(analyze_text(line)) for line in EFFECTS}
    assert {line: (EFFECTS[line], found[line]) for line in EFFECTS if EFFECTS[line] != found[line]} == {}
