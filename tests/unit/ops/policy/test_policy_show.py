from termvisor.model.action.policy import ApprovalPolicy, Policy
from termvisor.testing.operation_calls import build_sample_services, run_command


async def test_the_rules_in_force_are_shown_or_only_what_was_changed() -> None:
    world = await build_sample_services()
    assert 'approval.default = "ask"' in (await run_command(world, "policy", "show")).out
    world.gate.audit.active_policy = Policy(approval=ApprovalPolicy(default="deny"))
    shown = await run_command(world, "policy", "show", "--changed", "-q")
    assert shown.out == 'approval.default = "deny"\napproval.expiry = 600\n'


async def test_a_file_that_is_wrong_is_told_and_without_any_policy_nothing_is_allowed() -> None:
    world = await build_sample_services()
    world.gate.audit.active_policy, world.gate.audit.policy_problem = None, "line 3 is wrong"
    out = (await run_command(world, "policy", "show")).out
    assert "line 3 is wrong" in out
    assert "nothing is allowed" in out
