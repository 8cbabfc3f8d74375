from termvisor.ops.input.quit_agent import OP


def test_it_acts_and_is_judged_first():
    assert (OP.effect, OP.build_request is not None) == ("change", True)
    assert "dry_run" in OP.args_type.__struct_fields__
