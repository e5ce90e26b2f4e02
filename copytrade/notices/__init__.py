"""How alerts reach a person: by mail, by a messenger (Apprise) or by a signed webhook; and the digest by mail.

`plan` makes a row for all that is to be told, `work` tells it. Rows are raised elsewhere (copytrade/alerts): here only
`Alert.loud_at` is read. A channel is used by one worker at a time, in order, each row until it arrived or was given up.
"""

from .planning import plan
from .sending import work
from .trying import send_test

__all__ = ["plan", "send_test", "work"]
