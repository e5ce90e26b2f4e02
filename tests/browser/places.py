"""Every page of the desk, found as a person finds them: by its links."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from playwright.sync_api import Page

FIXED = {
    "Overview": "/",
    "Overview, 7 days": "/?period=7",
    "Traders": "/traders/",
    "Open orders": "/orders/open/",
    "History": "/orders/history/",
    "History, losses": "/orders/history/?result=loss",
    "Templates": "/templates/",
    "Import settings": "/templates/import/",
    "Affiliate": "/affiliate/",
    "Connections": "/connections/",
    "Add a connection": "/connections/add/",
    "Alerts": "/alerts/",
    "Alert rules": "/alerts/rules/",
    "Channels": "/alerts/channels/",
    "Activity": "/activity/",
    "Data issues": "/issues/?state=all",
    "Security": "/security/",
    "Audit": "/security/audit/",
    "Keyboard": "/help/keys/",
}


def places(page: Page, trader: str = "Northwind Steady") -> dict[str, str]:
    """Names and addresses of all pages, of a trader, an order and a connection too. Somebody is signed in."""
    page.goto("/traders/")
    ours = page.get_by_role("link", name=trader, exact=True).get_attribute("href") or ""
    traders = _links(page, r"/traders/\d+/")
    found = FIXED | {
        "Trader": ours,
        "Trader, all time": f"{ours}?period=all",
        "Trader, own range": f"{ours}?period=range&from={_day(120)}&to={_day(20)}",
        "Copy settings": f"{ours}settings/",
        "Settings timeline": f"{ours}settings/timeline/",
    }
    others = [link for link in traders if link != ours]
    if others:
        found["Copy settings of another"] = f"{others[0]}settings/"
        four = [link.split("/")[2] for link in [ours, *others][:4]]
        found["Compare"] = "/traders/compare/?" + "&".join(f"trader={one}" for one in four)
    for name, listed in (("Open order", "/orders/open/"), ("Closed order", "/orders/history/")):
        page.goto(listed)
        for link in _links(page, r"/orders/\d+/")[:1]:
            found[name] = link
    page.goto("/connections/")
    for link in _links(page, r"/connections/\d+/")[:1]:
        own, lead = link.replace("/connections/", "/account/"), link.replace("/connections/", "/lead/")
        found |= {"Account": own, "Spot bills": f"{own}bills/", "Lead trader": lead}
        found |= {"Funding bills": f"{own}bills/?wallet=funding"}
        spot = link.replace("/connections/", "/spot/")
        found |= {"Connection": link, "Remove a connection": f"{link}remove/", "Spot switch": f"{link}spot/"}
        found |= {"Spot": spot, "Spot batch": f"{spot}batch/", "Spot look-up": f"{spot}look-up/"}
    return found


def _day(ago: int) -> str:
    return (datetime.now(UTC) - timedelta(days=ago)).date().isoformat()


def _links(page: Page, pattern: str) -> list[str]:
    """The addresses of links on the page that look like this, each once, in their order."""
    addresses = page.locator("main a[href]").evaluate_all("links => links.map(a => a.getAttribute('href'))")
    return list(dict.fromkeys(found[0] for one in addresses if (found := re.match(pattern, one))))
