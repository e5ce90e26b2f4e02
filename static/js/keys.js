// Keys: "g" and a letter goes to a page, j and k walk the rows, "/" goes to the filter, "r" loads again, "?" lists all.
// Never while somebody types, never with Ctrl, Alt or Meta, and not at all where they were switched off.
{
  const off = () => document.documentElement.dataset.keys === "off";
  const list = document.getElementById("keys");
  let going = -Infinity;
  let typed = false;
  document.addEventListener("input", (event) => {
    if (event.target.closest?.("form")) typed = true;
  });

  // The list is that of its own page, fetched when it is first looked at: no page carries it.
  async function show() {
    if (!list) return;
    if (!list.querySelector("dl")) {
      const answer = await fetch(list.dataset.from);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      list.querySelector("h2").after(page.querySelector("main dl.keys"));
    }
    if (!list.open) list.showModal();
  }

  // What a row leads to: its first link. Focus moves, so a screen reader tells the row, and Enter opens it.
  const rows = () =>
    [...document.querySelectorAll("main :is(tbody tr, .lines > li)")]
      .map((row) => row.querySelector("a[href]"))
      .filter((link) => link && link.offsetParent);
  function step(by) {
    const links = rows();
    const row = document.activeElement?.closest?.("tr, .lines > li");
    const here = row ? links.findIndex((link) => row.contains(link)) : -1;
    const next = here < 0 ? (by > 0 ? 0 : links.length - 1) : here + by;
    links[Math.min(Math.max(next, 0), links.length - 1)]?.focus();
  }
  const single = {
    "?": show,
    j: () => step(1),
    k: () => step(-1),
    "/": () =>
      document
        .querySelector("main input[type=search]:not([hidden]), main form.filters :is(input:not([type=hidden]), select)")
        ?.focus(),
    r: () => { if (!typed) location.reload(); },
  };

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      for (const open of document.querySelectorAll("details.more[open]")) {
        open.open = false;
        open.querySelector("summary").focus();
      }
    }
    const typing = event.target.closest?.("input, select, textarea, [contenteditable], dialog");
    if (typing || off() || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const key = event.key;
    const went = event.timeStamp - going < 1500;
    going = key === "g" ? event.timeStamp : -Infinity;
    if (key === "g") return;
    if (went) {
      const place = key.length === 1 && document.querySelector(`.side a[data-key="${CSS.escape(key)}"]`);
      if (place) location.assign(place.href);
      return;
    }
    if (Object.hasOwn(single, key)) {
      event.preventDefault();
      single[key]();
    }
  });
}
