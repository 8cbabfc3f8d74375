"""Operations on workflows and workflow runs; start with `_workflow_runs`."""
