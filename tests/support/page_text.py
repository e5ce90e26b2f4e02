"""What a person reads of a page: its words without its marks."""

from __future__ import annotations

import re

from django.utils.html import escape

from copytrade.statistics import DEFINITIONS


def text(html: str) -> str:
    """What a person reads, on one line."""
    html = re.sub(r"<script.*?</script>", " ", html, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html)).replace("\u202f", " ")


def explained(html: str) -> list[str]:
    """The names of the figures whose definitions a press opens, in their order; of what is no figure of statistics, its
    label as a name. Each is there to be opened."""
    names = {escape(sentence): name for name, sentence in DEFINITIONS.items()}
    found = []
    for identity in re.findall(r'popovertarget="([^"]+)"', html):
        mark = f'<span class="what-says" id="{identity}" popover>'
        assert mark in html
        label, _, sentence = html.partition(mark)[2].partition("</span>")[0].partition("</strong> ")
        named = label.removeprefix("<strong>").lower().replace(" ", "_")
        found.append(names.get(sentence, named))
    return found
