"""Screens of opencode, made of their parts."""

from tests.unit.agents.adapters.saying import screen

REST = "   /home/you/api                                  1.5K (2%)  ctrl+p commands"
WORK = "   ■■■⬝⬝⬝⬝⬝  esc interrupt                        1.5K (2%)  ctrl+p commands"
EDGE = "  ╹" + "▀" * 60
OPTIONS = "   Allow once   Allow always   Reject            ctrl+f fullscreen  ⇆ select  enter confirm"


def barred(*rows: str) -> list[str]:
    return ["  ┃", *(f"  ┃  {row}".rstrip() for row in rows), "  ┃", ""]


def composed(*said: str, below: str = REST, typed: str = ""):
    return screen([*said, "", "  ┃", f"  ┃  {typed}".rstrip(), "  ┃", "  ┃  Build · Model Provider", EDGE, below])


def panel(*rows: str):
    return screen(
        [
            *barred("a prompt"),
            "     $ touch x",
            "     ▣  Build · Model",
            "",
            "  ┃",
            *(f"  ┃  {row}".rstrip() for row in rows),
            "  ┃",
        ]
    )


PERMISSION = ("△ Permission required", "  # Shell command", "", "$ touch x", "", "", OPTIONS.strip())
QUESTION = ("Which database?", "", "1. pg", "   large", "2. lite", "", "↑↓ select  enter submit  esc dismiss")
