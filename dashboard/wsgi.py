"""The web application, for granian."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
application = get_wsgi_application()

from .admission import announce  # noqa: E402 (the models are there only now)
from .settling import settle  # noqa: E402

announce()

settle()
