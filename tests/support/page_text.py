"""What a person reads of a page: its words without its marks."""

from __future__ import annotations

import re


def text(html: str) -> str:
    """What a person reads, on one line."""
    html = re.sub(r"<script.*?</script>", " ", html, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html)).replace("\u202f", " ")
