from termvisor.ops.input.interrupt import OP


def test_it_acts_and_is_judged_first():
    assert (OP.effect, OP.wish is not None) == ("change", True)
    assert "dry_run" in OP.Input.__struct_fields__
