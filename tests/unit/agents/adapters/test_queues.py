"""The queue of a working agent is read from its screen. The rows are those of the real programs."""

import pytest

from termvisor.actions.pane_snapshot import get_agent_interaction
from termvisor.model.ids import PaneId
from termvisor.model.terminal.screen import Screen

RULE = "─" * 60
SCREENS = {
    "claude_code": f"""
❯ MODEL slow 15

● thinking

❯ check the second file
  ctrl+x ctrl+s to send now

· Cerebrating… (8s · ↓ 24 tokens)
{RULE}
❯ Press up to edit queued messages
{RULE}
  ⏸ manual mode on · esc to interrupt""",
    "codex": """
› MODEL shell sleep 14

• Running sleep 14

◦ Working (8s • esc to interrupt)

• Messages to be submitted after next tool call (press esc to interrupt and send immediately)
  ↳ check the second file

• Queued follow-up inputs
  ↳ and a third thing
    shift+← edit last queued message

› Ask Codex to do anything

  scripted-model default · /tmp/work
  ← for agents · ? for shortcuts""",
    "opencode": f"""
  ┃
  ┃  MODEL slow 15
  ┃
     thinking aloud
     ▣  Build · Scripted
  ┃
  ┃  check the second file
  ┃   QUEUED
  ┃

  ┃
  ┃
  ┃
  ┃  Build · Scripted Scripted
  ╹{"▀" * 60}
   ⬝⬝⬝⬝⬝■■■  esc interrupt        tab agents  ctrl+p commands""",
    "gemini": f"""
 > MODEL slow 14
✦ thinking aloud

  Queued (press ↑ to edit):
    check the second file
    and a third thing

 ⠋ Thinking... (esc to cancel, 8s)                             ? for shortcuts
{RULE}
 Shift+Tab to accept edits
 >   Type your message or @path/to/file""",
    "copilot": f"""
 ❯ MODEL slow 14                              16:54
 ● thinking aloud
 ❯ check the second file                      16:54
   └ [pending · ↑ recall]
Queued (1)
 └ and a third thing

 /tmp/work
{RULE}
❯
{RULE}
 ○ Working · 97 B esc esc interrupt             scripted-model""",
}
FILE, THING = "check the second file", "and a third thing"


def show_screen(text: str) -> Screen:
    rows = tuple(text.split("\n"))
    return Screen(pane=PaneId(1), rows=rows, width=80, height=len(rows), cursor_x=0, cursor_y=0)


@pytest.mark.parametrize(
    ("agent", "queued"),
    [
        ("claude_code", [FILE]),
        ("codex", [FILE, THING]),
        ("opencode", [FILE]),
        ("gemini", [FILE, THING]),
        ("copilot", [FILE, THING]),
    ],
)
def test_queued_prompts_are_read_and_the_prompt_at_work_is_not_one(agent, queued):
    interaction = get_agent_interaction(agent)
    shown = interaction.read_queue(show_screen(SCREENS[agent]))
    assert interaction.has_queue
    assert [text for text in (FILE, THING) if text in shown] == queued
    assert "thinking" not in shown


@pytest.mark.parametrize("agent", SCREENS)
def test_an_agent_with_a_queue_is_still_seen_at_work_with_an_empty_composer(agent):
    interaction, screen = get_agent_interaction(agent), show_screen(SCREENS[agent])
    assert (interaction.read_screen(screen).state, interaction.read_composer(screen)) == ("running", "")
    assert interaction.find_interrupt_keys(screen) is not None


def test_a_prompt_in_the_conversation_is_not_queued():
    text = (
        SCREENS["claude_code"].replace("Press up to edit queued messages", "").replace("ctrl+x ctrl+s to send now", "")
    )
    assert get_agent_interaction("claude_code").read_queue(show_screen(text)) == ""
