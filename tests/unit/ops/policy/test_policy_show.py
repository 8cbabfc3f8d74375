from termvisor.model.action.policy import ApprovalPolicy, Policy
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_the_active_policy_is_shown_or_only_changed_values() -> None:
    services = await build_sample_services()
    assert 'approval.default = "ask"' in (await run_command(services, "policy", "show")).out
    services.gate.audit.active_policy = Policy(approval=ApprovalPolicy(default="deny"))
    shown = await run_command(services, "policy", "show", "--changed", "-q")
    assert shown.out == 'approval.default = "deny"\napproval.expiry = 600\n'


async def test_a_file_that_is_wrong_is_reported_and_without_any_policy_nothing_is_allowed() -> None:
    services = await build_sample_services()
    services.gate.audit.active_policy, services.gate.audit.policy_problem = None, "line 3 is wrong"
    out = (await run_command(services, "policy", "show")).out
    assert "line 3 is wrong" in out
    assert "nothing is allowed" in out
