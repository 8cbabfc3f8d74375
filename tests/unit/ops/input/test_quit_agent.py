from termvisor.ops.input.quit_agent import OP


def test_quit_agent_is_a_change_with_policy_check_and_dry_run():
    assert (OP.effect, OP.build_request is not None) == ("change", True)
    assert "dry_run" in OP.args_type.__struct_fields__
