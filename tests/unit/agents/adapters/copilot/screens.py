"""Builders of Copilot screens."""

from tests.unit.agents.adapters.adapter_inputs import HORIZONTAL_RULE, build_box, build_screen

IDLE_FOOTER = " ← open sidebar · Interactive · Manual Approval · / commands · ? help        model"
WORKING_FOOTER = " ◎ Working · 66 B esc esc interrupt                                          model"
APPROVAL = (
    "A command",
    "Do you want to run this command?",
    "",
    "❯ 1. Yes",
    "  2. Yes, and don't ask again for `touch` in this repo",
    "  3. No, and tell Copilot what to do differently (Esc to stop)",
    "",
    "↑/↓ to navigate · enter to select · esc to cancel",
)
FORM = (
    HORIZONTAL_RULE,
    " Copilot needs information.",
    " Which database?",
    " ❯ pg",
    "   lite",
    " enter accept · esc cancel",
    HORIZONTAL_RULE,
)


def build_composer_screen(*conversation: str, below: str = IDLE_FOOTER, typed: str = ""):
    rows = [f"{row:<58}┃" for row in conversation]
    return build_screen(
        [*rows, " /home/you/api [⎇ main]", HORIZONTAL_RULE, f"❯ {typed}".rstrip(), HORIZONTAL_RULE, below]
    )


def build_dialog_screen(*rows: str):
    return build_screen([" ❯ a prompt                  04:26 ┃", *build_box(*rows)])
