from termvisor.model.action.policy import Approval, Policy
from termvisor.testing.asking import ask, lively


async def test_the_rules_in_force_are_shown_or_only_what_was_changed() -> None:
    world = await lively()
    assert 'approval.default = "ask"' in (await ask(world, "policy", "show")).out
    world.door.ledger.rules = Policy(approval=Approval(default="deny"))
    shown = await ask(world, "policy", "show", "--changed", "-q")
    assert shown.out == 'approval.default = "deny"\napproval.expiry = 600\n'


async def test_a_file_that_is_wrong_is_told_and_without_any_policy_nothing_is_allowed() -> None:
    world = await lively()
    world.door.ledger.rules, world.door.ledger.trouble = None, "line 3 is wrong"
    out = (await ask(world, "policy", "show")).out
    assert "line 3 is wrong" in out
    assert "nothing is allowed" in out
