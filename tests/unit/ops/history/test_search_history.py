from collections.abc import Awaitable, Callable

import pytest

from termvisor.clock import NS
from termvisor.model.ids import PaneId
from termvisor.model.terminal.search_query import SearchQuery, SearchResult
from termvisor.ops.history.search_history import cut_snippet
from termvisor.testing.fake_services import FakeServices, build_shell_facts
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_agents import SAMPLE_KINDS
from termvisor.testing.sample_services import build_sample_services


async def test_a_hit_has_pane_line_text_and_match_spans() -> None:
    data = (await run_command(await build_sample_services(), "robot", "search", "error", "failed")).envelope["data"]
    hit = data["items"][0]
    assert (hit["identity"]["session_name"], hit["number"], hit["text"]) == ("work", 2, "error: 1 test failed")
    assert hit["spans"] == [[0, 5], [14, 20]]
    assert data["summary"] == {"hits": 1, "panes": 1, "is_complete": True, "more": ""}


async def test_the_query_is_passed_to_the_history() -> None:
    services, queries = await build_sample_services(), []
    services.history.search = _answer_incompletely(queries)
    words = ("error", "--pane", "work", "--since", "10s", "--until", "now", "--rank", "relevance", "-C", "3", "-n", "7")
    await run_command(services, "search", *words)
    (query,) = queries
    assert (query.text, query.pane, query.rank, query.context, query.limit) == ("error", 1, "relevance", 3, 7)
    assert (query.since, query.until) == (services.clock.now() - 10 * NS, services.clock.now())


def _answer_incompletely(queries: list[SearchQuery]) -> Callable[[SearchQuery], Awaitable[SearchResult]]:
    async def search(query: SearchQuery) -> SearchResult:
        queries.append(query)
        return SearchResult(hits=(), is_complete=False)

    return search


async def test_no_hits_is_status_1_and_an_incomplete_search_is_reported() -> None:
    services = await build_sample_services()
    services.history.search = _answer_incompletely([])
    answered = await run_command(services, "search", "nowhere")
    assert answered.out == "No hits; there may be more: narrow the query, for example with since:1d.\n"
    assert answered.status == 1


async def test_a_search_without_hits_exits_with_1_for_robots_too() -> None:
    answered = await run_command(await build_sample_services(), "robot", "search", "nowhere")
    assert (answered.status, answered.envelope["ok"], answered.envelope["hint"]) == (1, True, None)


async def test_a_search_that_was_cut_says_how_to_get_more() -> None:
    services = FakeServices()
    services.print_lines(services.add_pane(build_shell_facts()).id, *(f"error {number}" for number in range(21)))
    answered = await run_command(services, "robot", "search", "error")
    assert (answered.status, answered.envelope["data"]["summary"]["is_complete"]) == (0, False)
    assert answered.envelope["hint"] == "more: --limit 100"
    assert (await run_command(services, "search", "error")).out.endswith("\n\n20 hits; more: --limit 100\n")


async def test_an_unknown_agent_in_a_query_is_an_error_and_a_known_one_is_not() -> None:
    services = await build_sample_services()
    services.agents.agent_kinds += SAMPLE_KINDS
    answered = await run_command(services, "robot", "search", "error", "agent:copilto")
    assert (answered.status, answered.envelope["error"]["code"]) == (2, "invalid_args")
    assert answered.envelope["hint"] == "Did you mean agent:copilot?"
    assert (await run_command(services, "search", "error", "event:usage.warning")).status == 1


async def test_matches_are_highlighted_only_in_colour_output() -> None:
    assert (
        "\x1b[33merror\x1b[0m: none"
        in (await run_command(await build_sample_services(), "search", "error", "-n", "1", colour=True)).out
    )
    assert "\x1b" not in (await run_command(await build_sample_services(), "search", "error")).out


async def test_a_secret_in_a_hit_is_redacted() -> None:
    services = FakeServices()
    token = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    services.print_lines(services.add_pane(build_shell_facts()).id, f"token {token}")
    answered = await run_command(services, "robot", "search", "token")
    assert token not in answered.out
    assert answered.envelope["data"]["items"][0]["spans"] == []


async def test_a_hit_in_a_deleted_pane_keeps_its_number() -> None:
    services = await build_sample_services()
    services.panes.list_panes = _list_no_panes
    hit = (await run_command(services, "robot", "search", "passed")).envelope["data"]["items"][0]
    assert hit["identity"] == {"target": "", "session_name": "", "window_id": "", "pane_id": "", "id": 1}


async def _list_no_panes(**_: object) -> list[object]:
    return []


@pytest.mark.parametrize("when", ["soon", "25:00"])
async def test_an_invalid_time_is_rejected_by_search(when: str) -> None:
    answered = await run_command(await build_sample_services(), "robot", "search", "x", "--since", when)
    assert (answered.status, answered.envelope["error"]["code"]) == (2, "invalid_args")


def test_a_snippet_surrounds_the_first_match() -> None:
    text = "a" * 100 + "needle" + "b" * 100
    piece, spans = cut_snippet(text, ((100, 106), (150, 151), (190, 195)))
    assert piece == "…" + "a" * 60 + "needle" + "b" * 60 + "…"
    assert [piece[start:end] for start, end in spans] == ["needle", "b"]
    assert cut_snippet("short", ()) == ("short", ())


async def test_snippets_are_short() -> None:
    services = FakeServices()
    services.print_lines(services.add_pane(build_shell_facts()).id, "x" * 500 + " needle " + "y" * 500)
    hit = (await run_command(services, "robot", "search", "needle", "--snippets")).envelope["data"]["items"][0]
    assert len(hit["text"]) < 140
    assert PaneId(hit["identity"]["id"]) == 1


async def test_a_hit_on_a_screen_has_its_screen_id() -> None:
    services = await build_sample_services()
    services.show_screen(PaneId(2), "Do you want to proceed?")
    hit = (await run_command(services, "robot", "search", "proceed")).envelope["data"]["items"][0]
    assert (hit["source"], hit["screen"], hit["number"], hit["last_at"]) == ("screen", 1, None, hit["at"])
    assert (await run_command(services, "search", "proceed")).out.startswith(
        "2 agents 0s ago on screen 1: Do you want to proceed?"
    )
    assert ", screen 1, " in (await run_command(services, "search", "proceed", "--format", "markdown")).out
    line = (await run_command(services, "robot", "search", "passed")).envelope["data"]["items"][0]
    assert (line["source"], line["screen"], line["last_at"]) == ("stream", None, None)
