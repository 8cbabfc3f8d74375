import pytest
from msgspec.structs import replace

from termvisor.model.health import HealthStatus
from termvisor.model.terminal.pane import PaneActivity
from termvisor.ops.panes.list_panes import build_pane_item, format_activity
from termvisor.testing.fake_services import FakeServices, build_shell_facts
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_panes_are_listed_as_the_schema_declares() -> None:
    data = (await run_command(await build_sample_services(), "robot", "state")).envelope["data"]
    assert list(data) == ["schema_version", "generated_at", "filters", "summary", "items", "notes"]
    assert [pane["identity"]["id"] for pane in data["items"]] == [1, 2]
    assert data["summary"] == {
        "panes": 2,
        "by_activity": {"alt_screen": 1, "prompt": 1},
        "by_target": {"local": 2},
        "gaps": 1,
        "agents": {
            "agents": 0,
            "top_state": None,
            "waiting": 0,
            "running": 0,
            "needs_action": 0,
            "by_state": {},
            "by_agent": {},
        },
    }


async def test_times_are_reported_as_timestamps_and_ages() -> None:
    pane = (await run_command(await build_sample_services(), "robot", "state", "--pane", "1")).envelope["data"][
        "items"
    ][0]
    assert (pane["last_output_at"], pane["last_output_age"]) == ("2026-01-01T12:01:05.000Z", 10.0)


async def test_filters_are_repeated_in_the_answer() -> None:
    data = (
        await run_command(await build_sample_services(), "robot", "state", "--session", "agents", "--gone")
    ).envelope["data"]
    assert data["filters"] == {"session": "agents", "gone": True}
    assert [pane["identity"]["id"] for pane in data["items"]] == [2, 3]


async def test_an_unknown_pane_is_an_error_with_its_code() -> None:
    result = await run_command(await build_sample_services(), "robot", "state", "--pane", "99")
    assert result.envelope["error"]["code"] == "pane_not_found"
    assert result.status == 4


async def test_no_panes_is_not_an_error_and_has_a_hint() -> None:
    result = await run_command(FakeServices(), "panes")
    assert (result.out, result.status) == ("No panes. `visor demo` starts example panes.\n", 0)
    assert (await run_command(FakeServices(), "panes", "-q")).out == ""


async def test_a_hostile_title_reaches_the_terminal_as_text_only() -> None:
    services = FakeServices()
    services.add_pane(build_shell_facts(title="x\x1b]52;c;aGk=\x07\n99  root", cwd="/tmp/\x1b[2J"))
    result = await run_command(services, "panes", width=200, is_terminal=True)
    assert "\x1b" not in result.out
    assert len(result.out.splitlines()) == 4


@pytest.mark.parametrize(
    ("activity", "words"),
    [
        (PaneActivity(kind="prompt", last_exit=0), "prompt"),
        (PaneActivity(kind="prompt", last_exit=2), "prompt (2)"),
        (PaneActivity(kind="command", command_line="make test"), "$ make test"),
        (PaneActivity(kind="command"), "command"),
        (PaneActivity(kind="alt_screen"), "alt screen"),
        (PaneActivity(), "unknown"),
    ],
)
def test_the_activity_is_formatted_briefly(activity: PaneActivity, words: str) -> None:
    services = FakeServices()
    pane = services.change_pane(services.add_pane(build_shell_facts()).id, activity=activity)
    assert format_activity(build_pane_item(pane, None, 0)) == words


@pytest.mark.parametrize(
    ("facts", "words"),
    [({"dead": True, "dead_status": 3}, "dead (3)"), ({"dead": True, "dead_signal": 9}, "dead (signal 9)")],
)
def test_a_dead_program_is_shown_with_its_status(facts: dict[str, object], words: str) -> None:
    assert format_activity(build_pane_item(FakeServices().add_pane(build_shell_facts(**facts)), None, 0)) == words


async def test_an_empty_listing_shows_likely_reasons(monkeypatch: pytest.MonkeyPatch) -> None:
    services = FakeServices()
    assert (await run_command(services, "panes")).out == "No panes. `visor demo` starts example panes.\n"
    health = await services.maintenance.get_health()
    silent = replace(health.servers[0], mux_ok=False, socket="/run/x\x1b[2J")

    async def get_health_with_alerts() -> HealthStatus:
        return replace(health, servers=(silent,), alerts=("tmux is missing",))

    monkeypatch.setattr(services.maintenance, "get_health", get_health_with_alerts)
    assert (await run_command(services, "panes")).out == (
        "No panes. tmux is missing. No tmux server responds on /run/x. `visor demo` starts example panes.\n"
    )
    assert (await run_command(services, "robot", "state", "--session", "none")).envelope["data"]["notes"] == []


async def test_a_pane_with_an_agent_shows_its_state_and_needed_action() -> None:
    result = await run_command(await build_sample_services(op="list_panes"), "panes", width=160, is_terminal=True)
    lines = result.out.splitlines()
    assert "AGENT" in lines[0]
    assert "claude_code  ! waiting approval" in lines[2]
    assert "opencode     unknown (no signal)" in lines[5]
    assert lines[-1].endswith("1 needs action: `visor next`")


async def test_a_pane_without_an_agent_shows_its_activity_as_before() -> None:
    pane = (await run_command(await build_sample_services(op="list_panes"), "robot", "state", "--pane", "1")).envelope[
        "data"
    ]["items"][0]
    assert (pane["agent"], pane["state"], pane["presence"]) == (None, None, "unmanaged")
    assert not any(pane["flags"].values())
    assert pane["activity"]["kind"] == "prompt"


async def test_without_agents_there_is_no_agent_column() -> None:
    assert "AGENT" not in (await run_command(await build_sample_services(), "panes")).out


async def test_the_colour_is_that_of_the_state_and_no_colour_means_none() -> None:
    services = await build_sample_services(op="list_panes")
    painted = (await run_command(services, "panes", width=160, colour=True, is_terminal=True)).out
    assert "\x1b[33m! waiting approval" in painted
    assert "\x1b[32mrunning" in painted
    assert "\x1b" not in (await run_command(services, "panes", width=160, is_terminal=True)).out


@pytest.mark.parametrize("width", [60, 80, 100, 120])
async def test_states_are_never_truncated_on_narrow_terminals(width: int) -> None:
    lines = (
        await run_command(await build_sample_services(op="list_panes"), "panes", width=width, is_terminal=True)
    ).out.splitlines()
    assert "! waiting approval" in lines[2]
    assert max(map(len, lines[:7])) <= width


@pytest.mark.parametrize(
    ("words", "panes"),
    [
        (("--state", "waiting"), [2]),
        (("--state", "running,completed"), [4, 5]),
        (("--agent", "codex"), [4]),
        (("--needs-action",), [2]),
        (("--session", "work", "--state", "unknown"), [6]),
        (("--target", "elsewhere"), []),
    ],
)
async def test_panes_are_filtered_by_agent_state(words: tuple[str, ...], panes: list[int]) -> None:
    data = (await run_command(await build_sample_services(op="list_panes"), "robot", "state", *words)).envelope["data"]
    assert [item["identity"]["id"] for item in data["items"]] == panes


async def test_an_agent_is_also_named_by_its_runtime() -> None:
    services = await build_sample_services(op="list_panes")
    found = (await run_command(services, "robot", "state", "--pane", "runtime:2")).envelope["data"]["items"]
    assert [item["identity"]["id"] for item in found] == [4]
    assert (await run_command(services, "robot", "state", "--pane", "runtime:99")).status == 4


async def test_a_filter_without_matches_is_reported() -> None:
    assert (
        await run_command(await build_sample_services(), "panes", "--session", "nowhere")
    ).out == "No matching panes.\n"


async def test_usage_columns_need_an_agent_and_enough_width() -> None:
    services = await build_sample_services(op="status")
    wide = (await run_command(services, "panes", width=240)).out
    assert "claude-opus-4-5  48,211      31%  $0.42  deterministic" in wide
    assert "CONTEXT" not in (await run_command(services, "panes", width=80, is_terminal=True)).out
    assert "CONTEXT" not in (await run_command(await build_sample_services(), "panes", width=240)).out
