import pytest
from msgspec.structs import replace

from termvisor.errors import BadRequest, Conflict, Refused, Unconfirmed
from termvisor.model.action.approval import SHOWN, Approval
from termvisor.model.action.verdict import Reason, strictest
from termvisor.ops.api.gate_service import Foreseen
from termvisor.ops.approvals._edited_approval import done_instead
from termvisor.testing.asking import ask, lively
from termvisor.testing.world import MemoryWorld


@pytest.fixture
async def world() -> MemoryWorld:
    return await lively()


def change(world: MemoryWorld, **fields: object) -> Approval:
    """The question in the inbox, as the test wants it."""
    world.door.inbox.approvals[0] = replace(world.door.inbox.approvals[0], **fields)
    return world.door.inbox.approvals[0]


async def test_the_text_goes_where_the_first_one_was_meant_for(world: MemoryWorld) -> None:
    known = change(world, into="program", owner="builder")
    change(world, shown={**known.shown, "enter": False, "into_screen": True})
    await done_instead(world, 1, "fix it")
    ((action, terms),) = world.door.done
    assert (action.enter, action.into_screen, terms.into, terms.owner) == (False, True, "program", "builder")


async def test_without_a_text_the_known_one_is_given_to_be_edited(world: MemoryWorld) -> None:
    answered = await ask(world, "approve", "1", "--edit")
    assert (answered.editable, answered.shown, answered.status) == ("make deploy", "", 2)
    assert "approve 1 --edit <the whole text>" in answered.err
    assert len(await world.door.inbox.list()) == 1


async def test_a_text_that_is_not_known_whole_cannot_be_edited(world: MemoryWorld) -> None:
    change(world, shown={"text": "x" * SHOWN + "… (9000 characters)"})
    with pytest.raises(BadRequest, match="too long") as error:
        await done_instead(world, 1, "")
    assert not isinstance(error.value, Unconfirmed)


async def test_a_masked_secret_is_not_typed(world: MemoryWorld) -> None:
    with pytest.raises(BadRequest, match="masked"):
        await done_instead(world, 1, "login [redacted:token]")
    assert world.door.done == []


@pytest.mark.parametrize(
    "foreseen",
    [
        Foreseen(verdict=strictest((Reason(source="rule", id="r", answer="deny"),)), path=()),
        Foreseen(verdict=strictest(()), path=(), refused="copy_mode", refused_text="the pane is in copy mode"),
    ],
    ids=["denied", "refused"],
)
async def test_what_would_not_be_done_leaves_the_question_open(world: MemoryWorld, foreseen: Foreseen) -> None:
    world.door.foreseen = foreseen
    with pytest.raises(Refused) as error:
        await done_instead(world, 1, "make test")
    assert "Question 1 is still open" in error.value.hint
    assert (world.door.done, len(await world.door.inbox.list())) == ([], 1)


async def test_only_a_text_can_be_edited_and_only_while_it_is_asked_about(world: MemoryWorld) -> None:
    change(world, kind="kill")
    with pytest.raises(BadRequest, match="only a text"):
        await done_instead(world, 1, "make")
    change(world, kind="send_text", state="denied")
    with pytest.raises(Conflict, match="is denied"):
        await done_instead(world, 1, "make")
