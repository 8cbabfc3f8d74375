"""Whatever stands in the world, no face of no op lets a control character through, and no row is forged."""

from collections.abc import Awaitable, Callable
from itertools import product

import msgspec
import pytest

from termvisor.model.ids import PaneId
from termvisor.model.terminal.pane import PaneActivity
from termvisor.model.terminal.screen import Screen
from termvisor.ops.api import catalog
from termvisor.settings import Paths
from termvisor.testing import sample_agents
from termvisor.testing.fake_services import FakeServices
from termvisor.testing.operation_calls import OPERATION_CALLS, run_command
from termvisor.testing.sample_services import build_sample_services
from tests.fuzz.hostile_text import FORBIDDEN_CHARACTERS, find_control_characters, poison_value

EVIL = (
    "e\x1b]52;c;ZXZpbA==\x07\x1b[2J\x9b31m\x9d0;t\x9c\x1bP+q\x1b\\\x00\x08\x7f\x85\r\n"
    "forged: row\t\x1b[31m\u202etxt\u202c"
    "\u2028\u2066x\u2069\ufeff\x1b"
)
EVIL_LINE = EVIL.replace("\r\n", "")
"""A stored line has no newline."""
FORMS = ["plain", "markdown", "json"]
MORE = {
    "get_text_escapes": ("get-text", "1", "--escapes"),
    "get_screen_escapes": ("get-screen", "1", "--escapes"),
    "search_context": ("search", "e", "-C", "2"),
    "export_text": ("export", "1", "--text"),
    "gaps_of_pane": ("gaps", "--pane", "1"),
    "unknown_pane": ("get-text", EVIL),
    "unknown_state": ("panes", "--state", EVIL),
    "unknown_field": ("tmux-status", f"{{no}}{EVIL}"),
    "no_agent": ("explain", "1"),
    "watched": ("watch", "--since", "1", "--once"),
    "waited": ("wait-for", "2", "--state", "waiting"),
    "unknown_command": (EVIL,),
    "unknown_flag": ("panes", f"--{EVIL}"),
    "unknown_filter": ("search", f"rule:{EVIL}"),
    "unknown_time": ("search", "e", "--since", EVIL),
    "wrong_pattern": ("wait-for", "1", f"({EVIL}", "--regex"),
}
ALL = OPERATION_CALLS | MORE


@pytest.fixture
async def hostile(tmp_path) -> FakeServices:
    """A lively world in which every text that came from outside is evil."""
    folder = str(tmp_path)
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "daemon.log").write_text(f"2026-01-01 12:00:00 INFO {EVIL}\n")
    (tmp_path / "config.toml").write_text(f"tmux_program = {msgspec.json.encode(EVIL).decode()}\n".replace("\x7f", ""))
    world = await sample_agents.add_sample_agents(await build_sample_services(Paths(folder, folder, folder)))
    for memory, name in list_memories(world):
        setattr(memory, name, poison_value(getattr(memory, name), EVIL))
    for service, name in list_stored_answers(world):
        setattr(service, name, poison_answers(getattr(service, name)))
    for event in await world.history.list_events(limit=100):
        data = msgspec.json.encode(poison_value(event.data, EVIL)).decode()
        world.run_sql("UPDATE event SET data = ? WHERE id = ?", data, event.id)
    world.agents.set_state(sample_agents.WORKING_PANE, "waiting_input", source=EVIL)
    for pane in (PaneId(1), PaneId(2)):
        world.change_pane(pane, activity=PaneActivity(kind="command", command_line=EVIL))
        world.print_lines(pane, EVIL_LINE, "tests passed error", EVIL_LINE)
        world.print_partial_line(pane, EVIL)
        world.print_bytes(pane, EVIL.encode())
        world.add_event("alert", pane, what=EVIL, **{EVIL: EVIL})
        world.add_gap(pane, "disk_full", 2.0)
        world.screens[pane] = Screen(pane=pane, rows=(EVIL, EVIL), width=80, height=2, at=world.clock.now())
    return world


def poison_answers(method: Callable[..., Awaitable[object]]) -> Callable[..., Awaitable[object]]:
    """As the method, with evil in every text that it reads from the store."""

    async def call(*args: object, **options: object) -> object:
        return poison_value(await method(*args, **options), EVIL)

    return call


def list_stored_answers(world: FakeServices) -> list[tuple[object, str]]:
    history, gate = world.history, world.gate
    methods = [
        (world.panes, "list_panes"),
        (world.panes, "find_pane"),
        (history, "list_gaps"),
    ]
    methods += [(history.commands, name) for name in ("list", "find", "find_after_line")]
    methods += [(world.detections, name) for name in ("list", "find_by_events")]
    methods += [(gate.approvals, name) for name in ("list", "find", "list_permits")]
    return [*methods, (gate.audit, "list"), (gate.reservations, "list")]


def list_memories(world: FakeServices) -> list[tuple[object, str]]:
    """All lists of the fakes in a world."""
    places = [world.recording, world.maintenance, world.agents, world.gate]
    kept = [(place, name) for place in places for name, held in vars(place).items() if isinstance(held, (list, dict))]
    return [one for one in kept if not one[1].startswith("_")]


def test_every_op_is_asked() -> None:
    assert {op.name for op in catalog.load_all_operations()} <= ALL.keys()


@pytest.mark.parametrize("call", ALL.values(), ids=list(ALL))
async def test_no_control_character_comes_out_of_any_face(hostile, call) -> None:
    for who, form in product(((), ("robot",)), FORMS):
        answered = await run_command(hostile, *who, *call, "--format", form)
        has_colours = "--escapes" in call and form != "json"
        assert answered.out + answered.err + answered.file, (who, form)
        assert find_control_characters(answered.out + answered.err + answered.question, colours=has_colours) == set(), (
            who,
            form,
        )


@pytest.mark.parametrize("call", ALL.values(), ids=list(ALL))
async def test_on_a_coloured_narrow_terminal_only_our_own_colours_come_out(hostile, call) -> None:
    answered = await run_command(hostile, *call, width=44, colour=True, is_terminal=True)
    assert find_control_characters(answered.out + answered.err, colours=True) == set()
    assert "\x1b[31m\u202e" not in answered.out


@pytest.mark.parametrize("name", ["list_panes", "list_events", "list_gaps"])
async def test_a_table_has_one_row_an_item_whatever_the_items_say(hostile, name) -> None:
    plain = await run_command(hostile, name.replace("_", "-"), "-q")
    items = (await run_command(hostile, "robot", name.replace("_", "-"))).envelope["data"]["items"]
    assert len(plain.out.splitlines()) == len(items)


async def test_json_keeps_what_was_said_though_it_shows_none_of_it_raw(hostile) -> None:
    hostile.print_lines(PaneId(1), "c1 \x9b and bidi \u202e and del \x7f")
    answered = await run_command(hostile, "robot", "get-text", "1", "--tail", "1")
    assert FORBIDDEN_CHARACTERS & set(answered.out) == set()
    assert answered.envelope["data"]["text"] == "c1 \x9b and bidi \u202e and del \x7f"
