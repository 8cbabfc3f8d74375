"""Composers and dialogs of all recorded versions: found, read and answered, also where their wording is unknown."""

import re

import pytest
from msgspec.structs import replace

from termvisor.actions.pane_snapshot import get_agent_interaction
from termvisor.agents.adapters import structure_keyboard
from termvisor.agents.adapters.adapter import ScreenReading
from termvisor.agents.adapters.screen_rows import remove_scroll_bars
from termvisor.model.terminal.screen import Screen
from tests.recordings.version_recording import RecordedMoment, VersionRecording, list_recordings, load_recording
from tests.unit.agents.adapters.adapter_inputs import build_screen

RECORDINGS = [pytest.param(path, id=f"{path.parent.name}-{path.name[:-8]}") for path in list_recordings()]
MOMENT_NS = 3_500_000_000
DRAFT = "a thought that is not sent"
TYPED = "zqy"
"""The letters with which the recorder tries whether the program accepts text."""
PROMPT = re.compile(r"step \d+: MODEL .+")
# Agents draw these faint; a recording has no colours.
SUGGESTIONS = (
    'Try "refactor <filepath>"',
    'Try "create a util logging.py that..."',
    "Write tests for @filename",
    "Find and fix a bug in @filename",
    "Improve documentation in @filename",
    "Summarize recent commits",
    "Resend your message to try again",
    "Hello from the scripted model.",
)
ASKED = ScreenReading(state="waiting_approval", rule="any_agent.screen.permission_asked")


def find_last_screen(recording: VersionRecording, moment: RecordedMoment) -> Screen:
    screen = None
    for sample in recording.samples:
        if sample.at > moment.at + MOMENT_NS:
            break
        screen = recording.build_screen(sample, screen)
    assert screen is not None
    return screen


@pytest.mark.parametrize("path", RECORDINGS)
def test_a_composer_is_found_at_rest_and_its_placeholder_is_no_text(path):
    recording = load_recording(path)
    interaction = get_agent_interaction(recording.agent)
    rest = [one for one in recording.moments if set(one.truths) <= {"idle", "completed", "error"}]
    read = {one.name: interaction.read_composer(find_last_screen(recording, one)) for one in rest}
    texts = {name: (text or "").strip() for name, text in read.items()}
    assert [name for name, text in read.items() if text is None] == []
    assert texts.pop("draft", DRAFT) == DRAFT
    # Some put a prompt back that was interrupted or refused.
    returned = {text for name in ("refused", "interrupted") if PROMPT.fullmatch(text := texts.get(name, ""))}
    assert set(texts.values()) - returned <= {"", DRAFT, TYPED, *SUGGESTIONS}  # some keep the draft for a while


@pytest.mark.parametrize("path", RECORDINGS)
def test_every_permission_dialog_can_be_denied_and_allowed_by_keys(path):
    recording = load_recording(path)
    interaction = get_agent_interaction(recording.agent)
    for moment in [one for one in recording.moments if one.truths == ("waiting_approval",)]:
        screen = find_last_screen(recording, moment)
        if recording.agent in ("opencode", "kilo"):  # mark the selected option by colour only
            number = next(at for at, row in enumerate(screen.rows) if "Allow once" in row and "Reject" in row)
            screen = replace(screen, highlights=((number, "Allow once"),))
        allow, deny = (interaction.find_choice_keys(screen, choice) for choice in ("allow", "deny"))
        denials = {("Enter", ("Escape",)), ("y", ("Escape",)), ("y", ("n",)), ("Enter", ("n", "Enter"))}
        denials.add(("Enter", ("Right", "Right", "Enter")))
        assert (allow.keys[-1], deny.keys) in denials
        assert allow.rows == deny.rows
        assert any("touch" in row for row in allow.rows)


def build_inline_dialog(*selected: str) -> Screen:
    screen = build_screen(
        "┃  △ Permission required\n"
        "┃  Run this command?\n"
        "┃    touch made\n"
        "┃\n"
        "┃   Allow once   Allow always   Reject      ⇆ select  enter confirm"
    )
    return replace(screen, highlights=tuple((4, text) for text in selected))


@pytest.mark.parametrize(
    ("selected", "allow", "deny"),
    [
        (("Allow once",), ("Enter",), ("Right", "Right", "Enter")),
        (("Allow always",), ("Left", "Enter"), ("Right", "Enter")),
        (("Reject",), ("Left", "Left", "Enter"), ("Enter",)),
        ((), None, None),
        (("Allow once", "Reject"), None, None),
    ],
)
def test_options_in_one_row_are_reached_from_the_highlighted_one(selected, allow, deny):
    screen = build_inline_dialog(*selected)
    presses = [structure_keyboard.find_choice_keys(screen, ASKED, choice) for choice in ("allow", "deny")]
    assert [press and press.keys for press in presses] == [allow, deny]


def test_a_screen_without_a_dialog_is_not_answered():
    running = ScreenReading(state="running", rule="any_agent.screen.working")
    assert structure_keyboard.find_choice_keys(build_inline_dialog("Reject"), running, "deny") is None
    assert structure_keyboard.find_choice_keys(build_screen("● done"), ASKED, "deny") is None


def test_the_left_bar_of_an_empty_input_row_is_no_scroll_bar():
    indent, edge = " " * 63, "▀" * 74
    rows = [f"{indent}┃", f"{indent}┃  fix the tests", f"{indent}┃", f"{indent}┃  Build · Model", f"{indent}╹{edge}"]
    screen = replace(build_screen("\n".join(rows)), width=200, cursor_x=80, cursor_y=1)
    assert get_agent_interaction("opencode").read_composer(screen) == "fix the tests"
    assert remove_scroll_bars([f"answer{' ' * 60}█", f"{' ' * 66}█"]) == [f"answer{' ' * 60}", " " * 66]
