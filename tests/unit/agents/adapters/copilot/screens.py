"""Screens of Copilot, made of their parts."""

from tests.unit.agents.adapters.saying import RULE, box, screen

REST = " ← open sidebar · Interactive · Manual Approval · / commands · ? help        model"
WORK = " ◎ Working · 66 B esc esc interrupt                                          model"
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
FORM = (RULE, " Copilot needs information.", " Which database?", " ❯ pg", "   lite", " enter accept · esc cancel", RULE)


def composed(*said: str, below: str = REST, typed: str = ""):
    rows = [f"{row:<58}┃" for row in said]
    return screen([*rows, " /home/you/api [⎇ main]", RULE, f"❯ {typed}".rstrip(), RULE, below])


def asked(*rows: str):
    return screen([" ❯ a prompt                  04:26 ┃", *box(*rows)])
