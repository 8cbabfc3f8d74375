"""Turn an agent's permission request into an approval request and return the answer to the agent.

In: a request from the agent's hook, its server, or a dialog on its screen. Out: an ``AnswerAgent`` action for the gate,
then allow or deny, sent by the same route. Read ``broker`` first.
"""
