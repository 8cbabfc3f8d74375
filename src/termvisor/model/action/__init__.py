"""Values of actions: policy, approval, outcome, audit log and notifications."""
