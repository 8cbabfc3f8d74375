import pytest

from termvisor.clock import NS
from termvisor.model.ids import PaneId
from termvisor.ops.history.search_history import snippet
from termvisor.testing.asking import ask, lively
from termvisor.testing.world import MemoryWorld, shell


async def test_hits_say_where_when_and_what() -> None:
    data = (await ask(await lively(), "robot", "search", "error", "failed")).envelope["data"]
    hit = data["items"][0]
    assert (hit["identity"]["session_name"], hit["number"], hit["text"]) == ("work", 2, "error: 1 test failed")
    assert hit["spans"] == [[0, 5], [14, 20]]
    assert data["summary"] == {"hits": 1, "panes": 1, "is_complete": True}


async def test_the_question_reaches_the_history_whole() -> None:
    world = await lively()
    words = ("error", "--pane", "work", "--since", "10s", "--until", "now", "--rank", "relevance", "-C", "3", "-n", "7")
    await ask(world, "search", *words)
    question = world.history.question
    assert question is not None
    assert (question.text, question.pane, question.rank, question.context, question.limit) == (
        "error",
        1,
        "relevance",
        3,
        7,
    )
    assert (question.since, question.until) == (world.clock.now() - 10 * NS, world.clock.now())


async def test_nothing_found_is_no_error_and_an_incomplete_search_says_so() -> None:
    world = await lively()
    world.history.is_complete = False
    answered = await ask(world, "search", "nowhere")
    assert answered.out == "Nothing found; there may be more, narrow the question.\n"
    assert answered.status == 0


async def test_matches_are_marked_for_eyes_only() -> None:
    assert "\x1b[33merror\x1b[0m: none" in (await ask(await lively(), "search", "error", "-n", "1", colour=True)).out
    assert "\x1b" not in (await ask(await lively(), "search", "error")).out


async def test_a_secret_in_a_hit_is_not_told() -> None:
    world = MemoryWorld()
    token = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    world.say(world.pane(shell()).id, f"token {token}")
    answered = await ask(world, "robot", "search", "token")
    assert token not in answered.out
    assert answered.envelope["data"]["items"][0]["spans"] == []


async def test_a_hit_in_a_forgotten_pane_keeps_its_number() -> None:
    world = await lively()
    world.fleet.views.clear()
    hit = (await ask(world, "robot", "search", "passed")).envelope["data"]["items"][0]
    assert hit["identity"] == {"target": "", "session_name": "", "window_id": "", "pane_id": "", "id": 1}


@pytest.mark.parametrize("when", ["soon", "25:00"])
async def test_a_time_that_is_none_is_refused(when: str) -> None:
    answered = await ask(await lively(), "robot", "search", "x", "--since", when)
    assert (answered.status, answered.envelope["error"]["code"]) == (2, "invalid_args")


def test_a_snippet_is_a_piece_around_the_first_match() -> None:
    text = "a" * 100 + "needle" + "b" * 100
    piece, spans = snippet(text, ((100, 106), (150, 151), (190, 195)))
    assert piece == "…" + "a" * 60 + "needle" + "b" * 60 + "…"
    assert [piece[start:end] for start, end in spans] == ["needle", "b"]
    assert snippet("short", ()) == ("short", ())


async def test_snippets_are_short() -> None:
    world = MemoryWorld()
    world.say(world.pane(shell()).id, "x" * 500 + " needle " + "y" * 500)
    hit = (await ask(world, "robot", "search", "needle", "--snippets")).envelope["data"]["items"][0]
    assert len(hit["text"]) < 140
    assert PaneId(hit["identity"]["id"]) == 1


async def test_a_row_of_a_screen_says_so_and_names_its_screen() -> None:
    world = await lively()
    world.show(PaneId(2), "Do you want to proceed?")
    hit = (await ask(world, "robot", "search", "proceed")).envelope["data"]["items"][0]
    assert (hit["source"], hit["screen"], hit["number"], hit["last_at"]) == ("screen", 1, None, hit["at"])
    assert (await ask(world, "search", "proceed")).out.startswith(
        "2 agents 0s ago on screen 1: Do you want to proceed?"
    )
    assert ", screen 1, " in (await ask(world, "search", "proceed", "--format", "markdown")).out
    line = (await ask(world, "robot", "search", "passed")).envelope["data"]["items"][0]
    assert (line["source"], line["screen"], line["last_at"]) == ("stream", None, None)
