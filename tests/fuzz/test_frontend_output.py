"""Hostile text from outside: no output format of any operation passes on control characters or forged rows."""

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

HOSTILE_TEXT = (
    "e\x1b]52;c;ZXZpbA==\x07\x1b[2J\x9b31m\x9d0;t\x9c\x1bP+q\x1b\\\x00\x08\x7f\x85\r\n"
    "forged: row\t\x1b[31m\u202etxt\u202c"
    "\u2028\u2066x\u2069\ufeff\x1b"
)
HOSTILE_LINE = HOSTILE_TEXT.replace("\r\n", "")
"""A stored line has no newline."""
FORMATS = ["plain", "markdown", "json"]
EXTRA_CALLS = {
    "get_text_escapes": ("get-text", "1", "--escapes"),
    "get_screen_escapes": ("get-screen", "1", "--escapes"),
    "search_context": ("search", "e", "-C", "2"),
    "export_text": ("export", "1", "--text"),
    "gaps_of_pane": ("gaps", "--pane", "1"),
    "unknown_pane": ("get-text", HOSTILE_TEXT),
    "unknown_state": ("panes", "--state", HOSTILE_TEXT),
    "unknown_field": ("tmux-status", f"{{no}}{HOSTILE_TEXT}"),
    "no_agent": ("explain", "1"),
    "watch_once": ("watch", "--since", "1", "--once"),
    "wait_for_state": ("wait-for", "2", "--state", "waiting"),
    "unknown_command": (HOSTILE_TEXT,),
    "unknown_flag": ("panes", f"--{HOSTILE_TEXT}"),
    "unknown_filter": ("search", f"rule:{HOSTILE_TEXT}"),
    "unknown_time": ("search", "e", "--since", HOSTILE_TEXT),
    "wrong_pattern": ("wait-for", "1", f"({HOSTILE_TEXT}", "--regex"),
}
ALL_CALLS = OPERATION_CALLS | EXTRA_CALLS


@pytest.fixture
async def hostile_services(tmp_path) -> FakeServices:
    """Sample services in which every text from outside is hostile."""
    folder = str(tmp_path)
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "daemon.log").write_text(f"2026-01-01 12:00:00 INFO {HOSTILE_TEXT}\n")
    (tmp_path / "config.toml").write_text(
        f"tmux_program = {msgspec.json.encode(HOSTILE_TEXT).decode()}\n".replace("\x7f", "")
    )
    services = await sample_agents.add_sample_agents(await build_sample_services(Paths(folder, folder, folder)))
    for memory, name in list_fake_collections(services):
        setattr(memory, name, poison_value(getattr(memory, name), HOSTILE_TEXT))
    for service, name in list_stored_answers(services):
        setattr(service, name, poison_answers(getattr(service, name)))
    for event in await services.history.list_events(limit=100):
        data = msgspec.json.encode(poison_value(event.data, HOSTILE_TEXT)).decode()
        services.run_sql("UPDATE event SET data = ? WHERE id = ?", data, event.id)
    services.agents.set_state(sample_agents.WORKING_PANE, "waiting_input", source=HOSTILE_TEXT)
    for pane in (PaneId(1), PaneId(2)):
        services.change_pane(pane, activity=PaneActivity(kind="command", command_line=HOSTILE_TEXT))
        services.print_lines(pane, HOSTILE_LINE, "tests passed error", HOSTILE_LINE)
        services.print_partial_line(pane, HOSTILE_TEXT)
        services.print_bytes(pane, HOSTILE_TEXT.encode())
        services.add_event("alert", pane, what=HOSTILE_TEXT, **{HOSTILE_TEXT: HOSTILE_TEXT})
        services.add_gap(pane, "disk_full", 2.0)
        services.screens[pane] = Screen(
            pane=pane, rows=(HOSTILE_TEXT, HOSTILE_TEXT), width=80, height=2, at=services.clock.now()
        )
    return services


def poison_answers(method: Callable[..., Awaitable[object]]) -> Callable[..., Awaitable[object]]:
    """Wrap the method so that every text that it returns is hostile."""

    async def call(*args: object, **options: object) -> object:
        return poison_value(await method(*args, **options), HOSTILE_TEXT)

    return call


def list_stored_answers(services: FakeServices) -> list[tuple[object, str]]:
    history, gate = services.history, services.gate
    methods = [
        (services.panes, "list_panes"),
        (services.panes, "find_pane"),
        (history, "list_gaps"),
    ]
    methods += [(history.commands, name) for name in ("list", "find", "find_after_line")]
    methods += [(services.detections, name) for name in ("list", "find_by_events")]
    methods += [(gate.approvals, name) for name in ("list", "find", "list_permits")]
    return [*methods, (gate.audit, "list"), (gate.reservations, "list")]


def list_fake_collections(services: FakeServices) -> list[tuple[object, str]]:
    """Return all lists and dicts of the fake services."""
    fakes = [services.recording, services.maintenance, services.agents, services.gate]
    collections = [
        (fake, name) for fake in fakes for name, value in vars(fake).items() if isinstance(value, (list, dict))
    ]
    return [one for one in collections if not one[1].startswith("_")]


def test_every_operation_has_a_call() -> None:
    assert {op.name for op in catalog.load_all_operations()} <= ALL_CALLS.keys()


@pytest.mark.parametrize("call", ALL_CALLS.values(), ids=list(ALL_CALLS))
async def test_no_output_format_contains_control_characters(hostile_services, call) -> None:
    for prefix, output_format in product(((), ("robot",)), FORMATS):
        result = await run_command(hostile_services, *prefix, *call, "--format", output_format)
        has_colours = "--escapes" in call and output_format != "json"
        assert result.out + result.err + result.file, (prefix, output_format)
        assert find_control_characters(result.out + result.err + result.question, colours=has_colours) == set(), (
            prefix,
            output_format,
        )


@pytest.mark.parametrize("call", ALL_CALLS.values(), ids=list(ALL_CALLS))
async def test_a_coloured_narrow_terminal_gets_only_termvisor_colours(hostile_services, call) -> None:
    result = await run_command(hostile_services, *call, width=44, colour=True, is_terminal=True)
    assert find_control_characters(result.out + result.err, colours=True) == set()
    assert "\x1b[31m\u202e" not in result.out


@pytest.mark.parametrize("name", ["list_panes", "list_events", "list_gaps"])
async def test_hostile_text_never_adds_rows_to_a_table(hostile_services, name) -> None:
    plain = await run_command(hostile_services, name.replace("_", "-"), "-q")
    items = (await run_command(hostile_services, "robot", name.replace("_", "-"))).envelope["data"]["items"]
    assert len(plain.out.splitlines()) == len(items)


async def test_json_escapes_control_characters_and_keeps_the_text(hostile_services) -> None:
    hostile_services.print_lines(PaneId(1), "c1 \x9b and bidi \u202e and del \x7f")
    result = await run_command(hostile_services, "robot", "get-text", "1", "--tail", "1")
    assert FORBIDDEN_CHARACTERS & set(result.out) == set()
    assert result.envelope["data"]["text"] == "c1 \x9b and bidi \u202e and del \x7f"
