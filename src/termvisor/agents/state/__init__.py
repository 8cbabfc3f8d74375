"""Compute the states of agents from stored facts, as pure functions.

In: facts in the order in which they were stored (`model.agent.agent_process.Fact`). Out: states with their evidence.

A signal: `reducer` applies it, `signal_admission` rejects inadmissible, duplicate and late ones, `signal_binding` finds
its agent process, `source_slots` keeps the last statement of each source.

A query: `source_slots` rates each source at an instant, `resolver` selects the one to believe, `published_state`
computes what changed, `explain` gives the reasons. The same facts and instant always give the same result.
"""
