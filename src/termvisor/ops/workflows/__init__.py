"""Operations on workflows and workflow runs; start with `_run_item`."""
