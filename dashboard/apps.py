from django.apps import AppConfig


class DashboardConfig(AppConfig):
    name = "dashboard"

    def ready(self) -> None:
        """Listen at the door: the audit log of sign-ins (dashboard/sign_ins.py)."""
        from . import sign_ins  # noqa: F401
