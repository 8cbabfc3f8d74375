"""Builders of opencode screens."""

from tests.unit.agents.adapters.adapter_inputs import build_screen

IDLE_FOOTER = "   /home/you/api                                  1.5K (2%)  ctrl+p commands"
WORKING_FOOTER = "   ■■■⬝⬝⬝⬝⬝  esc interrupt                        1.5K (2%)  ctrl+p commands"
COMPOSER_EDGE = "  ╹" + "▀" * 60
PERMISSION_OPTIONS = "   Allow once   Allow always   Reject            ctrl+f fullscreen  ⇆ select  enter confirm"


def add_left_bar(*rows: str) -> list[str]:
    return ["  ┃", *(f"  ┃  {row}".rstrip() for row in rows), "  ┃", ""]


def build_composer_screen(*conversation: str, below: str = IDLE_FOOTER, typed: str = ""):
    return build_screen(
        [*conversation, "", "  ┃", f"  ┃  {typed}".rstrip(), "  ┃", "  ┃  Build · Model Provider", COMPOSER_EDGE, below]
    )


def build_panel_screen(*rows: str):
    return build_screen(
        [
            *add_left_bar("a prompt"),
            "     $ touch x",
            "     ▣  Build · Model",
            "",
            "  ┃",
            *(f"  ┃  {row}".rstrip() for row in rows),
            "  ┃",
        ]
    )


PERMISSION_PANEL = ("△ Permission required", "  # Shell command", "", "$ touch x", "", "", PERMISSION_OPTIONS.strip())
QUESTION_PANEL = ("Which database?", "", "1. pg", "   large", "2. lite", "", "↑↓ select  enter submit  esc dismiss")
