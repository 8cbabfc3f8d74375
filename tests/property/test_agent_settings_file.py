"""Hooks in any valid agent settings file: they are added once and removed without a trace."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from termvisor.model.agent.hooks import HOOK_EVENTS_BY_AGENT, HookedAgent
from termvisor.settings import Paths
from termvisor.setup.agent_settings import (
    AgentSettingsFile,
    add_hooks,
    build_settings_file,
    inspect_hooks,
    remove_hooks,
)

PATHS = Paths("/home/you/.config/visor", "/home/you/.local/share/visor", "/run/user/7/visor")
AGENTS = tuple(agent for agent in HOOK_EVENTS_BY_AGENT if agent != "opencode")
EVENTS = st.sampled_from(
    HOOK_EVENTS_BY_AGENT["claude_code"].events + HOOK_EVENTS_BY_AGENT["gemini"].events + ("Other",)
)

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
)
commands = st.fixed_dictionaries(
    {"type": st.just("command"), "command": st.text()}, optional={"timeout": st.integers()}
)
groups = st.fixed_dictionaries({"hooks": st.lists(commands, max_size=2)}, optional={"matcher": st.text()})
hooks = st.dictionaries(EVENTS, st.lists(groups, max_size=2), max_size=4)
settings = st.builds(
    lambda rest, own: rest | own,
    st.dictionaries(st.text(), values, max_size=4),
    st.fixed_dictionaries({}, optional={"hooks": hooks, "statusLine": commands | scalars}),
)


@st.composite
def settings_files(draw: st.DrawFn) -> bytes:
    """Settings in any JSON formatting that users and programs write."""
    text = json.dumps(
        draw(settings),
        indent=draw(st.sampled_from([None, 0, 2, 4, "\t"])),
        ensure_ascii=draw(st.booleans()),
        separators=draw(st.sampled_from([(",", ":"), (", ", ": "), (" , ", " : ")])),
    )
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return (draw(st.sampled_from(["", " ", "\n"])) + text + draw(st.sampled_from(["", "\n", " \n\n"]))).encode()


@st.composite
def files(draw: st.DrawFn) -> AgentSettingsFile:
    agent: HookedAgent = draw(st.sampled_from(AGENTS))
    return replace(build_settings_file(agent, PATHS, {"HOME": "/home/you"}), wants_status=draw(st.booleans()))


def load_hooks(data: bytes) -> Any:
    return json.loads(data).get("hooks", {})


@given(files(), settings_files() | st.none())
def test_removing_hooks_restores_the_file_to_the_byte(file: AgentSettingsFile, data: bytes | None) -> None:
    assert remove_hooks(file, add_hooks(file, data), data) == data


@given(files(), settings_files() | st.none())
def test_adding_hooks_is_idempotent(file: AgentSettingsFile, data: bytes | None) -> None:
    once = add_hooks(file, data)
    assert add_hooks(file, once) == once
    assert inspect_hooks(file, once).state == "current"


@given(files(), settings_files())
def test_adding_hooks_keeps_other_settings_and_covers_every_event(file: AgentSettingsFile, data: bytes) -> None:
    once = add_hooks(file, data)
    before, after = json.loads(data), json.loads(once)
    changed_keys = {"hooks"} | ({"statusLine"} - before.keys())
    assert {name: after[name] for name in after if name not in changed_keys} == {
        name: before[name] for name in before if name not in changed_keys
    }
    for event, items in load_hooks(once).items():
        user_items = load_hooks(data).get(event, [])
        assert items[: len(user_items)] == user_items
        assert len(items) == len(user_items) + sum(name == event for name, _ in file.hook_items)


@given(files(), settings_files(), st.text())
def test_removing_hooks_keeps_later_changes_by_the_user(file: AgentSettingsFile, data: bytes, word: str) -> None:
    changed = json.loads(add_hooks(file, data)) | {"theirs": word}
    rest = remove_hooks(file, json.dumps(changed).encode(), data)
    assert rest is not None
    assert inspect_hooks(file, rest).state == "absent"
    assert json.loads(rest)["theirs"] == word
    kept = {event: items for event, items in load_hooks(data).items() if items}
    assert {event: items for event, items in load_hooks(rest).items() if items} == kept
