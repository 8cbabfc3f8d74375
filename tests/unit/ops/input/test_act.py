import pytest

from termvisor.errors import NeedsApproval
from termvisor.model.action.action import SendKeys
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Terms
from termvisor.ops.input._act import Deed, Foretold, Wish, done, foretold_lines, said
from termvisor.ops.render.text import Look
from termvisor.testing.asking import lively
from termvisor.testing.door import MemoryDoor

WISH = Wish(action=SendKeys(pane=1, keys=("C-c",)), terms=Terms(wait_for_answer=60.0))


class AskingDoor(MemoryDoor):
    """Asks until the question is answered."""

    async def do(self, action, terms) -> Outcome:
        self.done.append((action, terms))
        if (await self.inbox.list())[:1]:
            raise NeedsApproval("a person must allow this first", details={"question": 1})
        return self.outcome


@pytest.mark.parametrize(("consent", "is_lasting"), [("once", False), ("session", True)])
async def test_a_person_s_consent_answers_their_own_question(consent, is_lasting) -> None:
    world = await lively()
    door = AskingDoor(world.clock)
    door.inbox.approvals += world.door.inbox.approvals
    world.door = door
    assert (await done(world, WISH, consent)).status == "done"
    assert door.inbox.approvals[0].state == "allowed"
    assert door.inbox.lasting == ([1] if is_lasting else [])
    assert [terms.wait_for_answer for _, terms in door.done] == [0.0, 0.0]


def test_what_a_pane_or_a_policy_says_cannot_move_the_reader_s_cursor() -> None:
    evil = "\x1b[2Jx\nvisor: forged"
    told = Foretold(what=evil, by=evil, answer="deny", why=evil, path=(evil,), refused="x", refused_why=evil)
    lines = foretold_lines(told, Look())
    assert not any("\x1b" in line or "\n" in line for line in lines)
    assert "\x1b" not in said(Deed(status="unknown", text=evil), Look(), "done")
