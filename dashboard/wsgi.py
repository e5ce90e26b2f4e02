"""The web application, for granian."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
application = get_wsgi_application()


def announce_setup() -> None:
    """Write the set-up token into the log while there is no account."""
    import structlog
    from django.db import DatabaseError

    from dashboard.admission import nobody_yet, setup_token

    log = structlog.get_logger("copydesk")
    try:
        if nobody_yet():
            log.warning(f"No account yet. To make the first one, open /setup/ and enter {setup_token()}")
    except DatabaseError:
        log.warning("The database is not ready, so it is not known whether an account exists.")


announce_setup()
