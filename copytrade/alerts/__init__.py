"""What the desk speaks up about by itself, once each.

`watch` looks at the stored rows and not at events, so nothing that raises or heals an alert can be lost with a killed
worker, and looking twice changes nothing: every alert has a key that names its occasion. A family of kinds per module;
raising.py makes rows of what they find, by each person's rules (rules.py), and folds.py counts a storm as one. How an
alert reaches a person is not here: whoever tells, tells rows whose `loud_at` has come.
"""

from .cures import CURES, cure
from .inbox import inbox, mark_read, unread, waiting
from .watching import tell, watch

__all__ = ["CURES", "cure", "inbox", "mark_read", "tell", "unread", "waiting", "watch"]
