from django.apps import AppConfig


class CopytradeConfig(AppConfig):
    name = "copytrade"
    default_auto_field = "django.db.models.BigAutoField"
    verbose_name = "Copy trading"
