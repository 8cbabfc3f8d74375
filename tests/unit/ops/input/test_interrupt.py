from termvisor.ops.input.interrupt import OP


def test_interrupt_is_a_change_with_policy_check_and_dry_run():
    assert (OP.effect, OP.build_request is not None) == ("change", True)
    assert "dry_run" in OP.args_type.__struct_fields__
