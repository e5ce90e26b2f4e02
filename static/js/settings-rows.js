/* Per-symbol settings: find, only changed, fill down, and pasting cells straight into the table.
   Each has a button that does the same by a request; this file only makes it quicker. */
(() => {
  "use strict";

  const table = () => document.getElementById("rows");
  const bodies = () => [...(table()?.querySelectorAll("tbody") ?? [])];
  const shown = () => bodies().filter((body) => !body.hidden);
  const fields = (body) => [...body.querySelectorAll("tr:first-child > td[data-label] > :is(input, select)")];
  const column = (field) => field.closest("td").className;
  const first = new WeakMap(); // what stood in a field when it came: the exchange's value, unless it says another

  const was = (field) => {
    if ("was" in field.dataset) return field.dataset.was;
    if (first.has(field)) return first.get(field);
    return field.defaultValue ?? ([...field.options].find((one) => one.defaultSelected) ?? field.options[0])?.value ?? "";
  };
  const same = (a, b) => a.trim() === b.trim() || (/^-?\d+(\.\d+)?$/.test(a.trim()) && /^-?\d+(\.\d+)?$/.test(b.trim()) && Number(a) === Number(b));
  const note = (body) => {
    const changed = fields(body).filter((field) => {
      const differs = !same(field.value, was(field));
      field.toggleAttribute("data-edited", differs);
      return differs;
    });
    body.classList.toggle("changed", changed.length > 0);
  };

  const filter = () => {
    if (!table()) return;
    const words = document.getElementById("find").value.toUpperCase().split(/\s+/).filter(Boolean);
    const only = document.getElementById("only").checked;
    for (const body of bodies()) {
      const fits = words.every((word) => body.dataset.symbol.toUpperCase().includes(word));
      const wanted = !only || body.classList.contains("changed") || body.querySelector(".field-errors");
      body.hidden = !(fits && wanted);
    }
    count();
  };
  const count = () => {
    const all = bodies();
    const visible = shown().length;
    const changed = all.filter((body) => body.classList.contains("changed")).length;
    const text = `${visible} of ${all.length} shown, ${changed} changed`;
    const place = document.getElementById("rows-shown");
    if (place.textContent !== text) place.textContent = text;
    document.getElementById("rows-none").hidden = visible > 0;
  };

  const tell = (text) => document.dispatchEvent(new CustomEvent("desk:toast", { detail: { text } }));
  const announce = (body) => body.dispatchEvent(new Event("change", { bubbles: true }));

  let last = null; // the field that was used last: what "Fill down" copies
  const fillDown = () => {
    const source = last?.isConnected ? last : null;
    const from = source?.closest("tbody");
    if (!from) return;
    const rows = shown();
    const below = rows.slice(rows.indexOf(from) + 1);
    for (const body of below) {
      const field = fields(body).find((other) => column(other) === column(source));
      if (field) field.value = source.value;
      note(body);
    }
    count();
    announce(below.at(-1) ?? from);
    source.focus();
    tell(`${source.closest("td").dataset.label}: the value of ${from.dataset.symbol} is now in ${below.length} row${below.length === 1 ? "" : "s"} below it.`);
  };

  document.addEventListener("focusin", (event) => {
    const field = event.target.closest?.("#rows tbody td[data-label] > *");
    if (!field) return;
    last = field;
    const button = document.getElementById("fill-down");
    button.disabled = false;
    button.textContent = `Fill down: ${field.closest("td").dataset.label.split(",")[0].toLowerCase()}`;
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest?.("#fill-down")) fillDown();
    if (event.target.closest?.("#copy-rows")) copyRows();
  });
  document.addEventListener("input", (event) => {
    if (event.target.id === "find" || event.target.id === "only") filter();
    if (event.target.id === "find-symbols") findAmong(event.target.value);
    const body = event.target.closest?.("#rows tbody");
    if (!body) return;
    if (event.target.name === "rows") ticked();
    else if (!event.target.classList.contains("open")) { note(body); count(); }
  });
  // Ticking and opening a row edits nothing: no check is asked for.
  document.addEventListener("change", (event) => {
    if (event.target.matches?.("#rows :is([name=rows], .open)")) event.stopPropagation();
  }, true);

  const ticked = () => {
    const any = bodies().some((body) => body.querySelector("[name=rows]").checked);
    document.getElementById("scope").value = any ? "ticked" : "shown";
  };

  document.addEventListener("keydown", (event) => {
    const field = event.target;
    if (event.key === "Enter" && field.id === "find") event.preventDefault();
    if (event.key === "Enter" && field.closest?.("#set-many")) {
      event.preventDefault();
      document.getElementById("set-go").click();
    }
    if (!field.closest?.("#rows tbody td[data-label]")) return;
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "d") {
      event.preventDefault();
      last = field;
      fillDown();
    } else if (event.key === "Enter" && field.tagName === "INPUT") {
      event.preventDefault();
      const rows = shown();
      const next = rows[rows.indexOf(field.closest("tbody")) + (event.shiftKey ? -1 : 1)];
      const below = next && fields(next).find((other) => column(other) === column(field));
      below?.focus();
      below?.select?.();
    }
  });

  // Several cells pasted into one field: they go to the box below the table, with heads, to be looked at first.
  document.addEventListener("paste", (event) => {
    const field = event.target.closest?.("#rows tbody td[data-label] > *");
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (!field || !/[\t\n]/.test(text.replace(/\r?\n$/, ""))) return;
    event.preventDefault();
    const rows = shown();
    const from = rows.slice(rows.indexOf(field.closest("tbody")));
    const heads = fields(from[0]).map((other) => other.closest("td").dataset.label.split(",")[0]);
    const names = heads.slice(fields(from[0]).indexOf(field));
    const lines = text.replace(/\r?\n$/, "").split(/\r?\n/);
    const width = Math.max(...lines.map((line) => line.split("\t").length));
    if (/symbol/i.test(lines[0])) look(text);
    else look([["Symbol", ...names.slice(0, width)].join("\t"),
      ...lines.slice(0, from.length).map((line, n) => `${from[n].dataset.symbol}\t${line}`)].join("\n"));
  });
  const look = (text) => {
    document.getElementById("paste-block").open = true;
    document.getElementById("paste").value = text;
    document.getElementById("paste-look").click();
  };

  const copyRows = async () => {
    const rows = shown();
    if (!rows.length) return;
    const heads = fields(rows[0]).map((field) => field.closest("td").dataset.label.split(",")[0]);
    const lines = rows.map((body) => [body.dataset.symbol, ...fields(body).map((field) => field.value)].join("\t"));
    const text = [["Symbol", ...heads].join("\t"), ...lines].join("\n");
    try {
      await navigator.clipboard.writeText(text);
      tell("Copied. Paste it into a spreadsheet.");
    } catch {
      const box = document.getElementById("paste");
      box.value = text;
      box.focus();
      box.select();
    }
  };

  const findAmong = (text) => {
    const words = text.toUpperCase().split(/\s+/).filter(Boolean);
    for (const item of document.querySelectorAll("#symbol-list > li")) {
      item.hidden = !words.every((word) => item.dataset.symbol.toUpperCase().includes(word));
    }
  };

  // Which row's note belongs to which fields is told by the row; after a check it holds for all of them.
  const marks = (body) => {
    const wrong = body.querySelector(".row-note .field-errors");
    body.classList.toggle("wrong", Boolean(wrong));
    const said = [...(wrong?.querySelectorAll("p") ?? [])].map((line) => line.dataset.field);
    for (const field of fields(body)) {
      const bad = said.includes(field.id);
      if (bad) {
        field.setAttribute("aria-invalid", "true");
        field.setAttribute("aria-describedby", `${body.id}-note`);
      } else {
        field.removeAttribute("aria-invalid");
        field.removeAttribute("aria-describedby");
      }
    }
  };
  document.addEventListener("htmx:oobAfterSwap", (event) => {
    const target = event.detail.target;
    const body = target?.closest?.("#rows tbody") ?? document.getElementById(target?.id ?? "")?.closest("#rows tbody");
    if (body) marks(body);
    if (target?.id === "per-symbol" || target?.querySelector?.("#rows")) start();
  });

  const start = () => {
    for (const id of ["fill-down", "copy-rows", "find-symbols"]) {
      const found = document.getElementById(id);
      if (found) found.hidden = false;
    }
    bodies().forEach(note);
    if (table()) count();
  };
  document.addEventListener("htmx:afterSettle", start);
  start();
})();
