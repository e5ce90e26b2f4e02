"""The web application, for granian."""

import gc
import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
application = get_wsgi_application()

from .admission import announce  # noqa: E402 (the models are there only now)

announce()

# What was loaded stays for good. Looking through it again at every full collection held up a request now and then
# by 100 ms: with 200 symbols the editor makes enough objects to start one.
gc.collect()
gc.freeze()
