"""What the daemon adds to `actions`: access to live panes, and notifications of approvals and events."""
