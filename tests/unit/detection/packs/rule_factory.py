"""Build rules and rule files for tests."""

from pathlib import Path

from termvisor.model.detection.rule import MatchingExample, NonMatchingExample, Rule

VALID_RULE = r"""
id = "tool.limit.reached"
since = "1"
scope = "line"
anchors = ["limit"]
pattern = '^tool: limit reached, (?P<left>\d+) left$'
severity = "warning"
event = "usage.reached"
why = "The tool stops."

[[hit]]
text = "tool: limit reached, 3 left"
captures = { left = "3" }

[[miss]]
text = "he said: tool: limit reached, 3 left"
"""


def write_pack(folder: Path, name: str = "org.local", **files: str) -> Path:
    """Write a folder of packs with one pack: a file for each rule."""
    place = folder / "packs" / name
    place.mkdir(parents=True, exist_ok=True)
    (place / "pack.toml").write_text(f'name = "{name}"\nversion = "1"\n')
    for file, text in files.items():
        (place / f"{file}.toml").write_text(text)
    return folder / "packs"


def build_rule(pattern: str, name: str = "tool.said", **more: object) -> Rule:
    defaults: dict[str, object] = {
        "id": name,
        "since": "1",
        "scope": "line",
        "event": "tool.said",
        "why": "It says so.",
        "hits": (MatchingExample(text="x"),),
        "misses": (NonMatchingExample(text="y"),),
    }
    return Rule(pattern=pattern, **(defaults | more))  # type: ignore[arg-type]
