"""Near misses: screens that resemble an agent's dialog although no agent is waiting."""

from pathlib import Path

import msgspec
from msgspec import Struct

from termvisor.model.terminal.screen import Screen

NEAR_MISS_FOLDER = Path(__file__).parent / "near_misses"


class NearMiss(Struct, frozen=True, kw_only=True):
    name: str
    what: str
    """Description of what the screen really shows."""
    command: str
    """The program that the pane runs."""
    title: str = ""
    screen: Screen


def load_near_misses() -> list[NearMiss]:
    return [msgspec.json.decode(path.read_bytes(), type=NearMiss) for path in sorted(NEAR_MISS_FOLDER.glob("*.json"))]


def write_near_miss(miss: NearMiss) -> None:
    NEAR_MISS_FOLDER.mkdir(exist_ok=True)
    path = NEAR_MISS_FOLDER / f"{miss.name}.json"
    path.write_bytes(msgspec.json.format(msgspec.json.encode(miss), indent=1) + b"\n")
