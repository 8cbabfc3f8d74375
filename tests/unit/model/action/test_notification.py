"""Text of user notifications."""

from termvisor.model.action.notification import UserNotification


def test_notification_body_has_one_line_for_each_part():
    notification = UserNotification(id="1", at="", title="build", text="done", place="pane 7 (…)", held_back=2)
    assert notification.body == "done\npane 7 (…)\n(2 more held back)"
    assert UserNotification(id="1", at="", title="build").body == ""
