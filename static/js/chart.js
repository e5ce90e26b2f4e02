/* Draws the equity chart with its drawdown below. Everything it shows is also in the table beside it.
   The data comes from the page's own address, when somebody reads off points: times (Unix seconds), equity, drawdown
   (0 or below), marks, zone. */
(() => {
  "use strict";

  // The server has drawn the picture already. The library, heavier than the page, only adds reading off single points:
  // it is fetched when somebody points at a chart or goes to it by key.
  const address = document.currentScript.dataset.library;
  let library;
  const loaded = () => library ??= new Promise((resolve, reject) => {
    const script = Object.assign(document.createElement("script"), { src: address, onload: resolve, onerror: reject });
    document.head.append(script);
  });

  // Between two pieces of work the browser may answer to a finger: a phone needs 50 ms for one chart.
  const pause = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));

  // A formatter costs more than a hundred uses of it, and a page whose charts nobody reads off needs none.
  const forms = new Map();
  function made(key, make) {
    if (!forms.has(key)) forms.set(key, make());
    return forms.get(key);
  }
  function dated(zone, seconds, form) {
    const kept = made(zone + JSON.stringify(form), () => new Intl.DateTimeFormat("en-GB", { ...form, timeZone: zone }));
    return kept.format(new Date(seconds * 1000)).replace("Sept", "Sep");
  }

  const AXIS_WIDTH = 64;
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const number = (least) => made(least, () => new Intl.NumberFormat("en", { minimumFractionDigits: least, maximumFractionDigits: 2 }));
  const whole = () => number(0);
  const cents = () => number(2);
  const money = (value, form = whole) => {
    if (value == null) return "";
    const sign = value > 0 ? "+" : value < 0 ? "\u2212" : "";
    return sign + form().format(Math.abs(value)).replaceAll(",", "\u202f");
  };

  function axisColours() {
    const line = { stroke: style("--line"), width: 1 };
    return { grid: line, text: style("--muted") };
  }

  function xAxis(colours, shown) {
    return {
      show: shown,
      stroke: colours.text,
      font: "12px system-ui, sans-serif",
      size: 28,
      space: 64,
      grid: { show: false },
      ticks: { show: false },
      // A label that the edge would cut off is left out.
      values: (plot, splits, index, space, step) =>
        splits.map((at) => (plot.valToPos(at, "x") < 22 ? null : dateLabel(plot.zone, at, step))),
    };
  }

  function dateLabel(zone, at, step) {
    const day = 86400;
    const form = step >= 300 * day ? { year: "numeric" }
      : step >= 28 * day ? { month: "short" }
      : step >= day ? { day: "numeric", month: "short" }
      : { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
    return dated(zone, at, form);
  }

  function yAxis(colours, space) {
    return {
      side: 1,
      size: AXIS_WIDTH,
      space,
      gap: 4,
      stroke: colours.text,
      font: "12px system-ui, sans-serif",
      grid: colours.grid,
      ticks: { show: false },
      values: (plot, splits) => splits.map((value) => (value === 0 ? "0" : money(value))),
    };
  }

  function drawMarks(plot, marks) {
    const { ctx, bbox } = plot;
    const ratio = devicePixelRatio;
    ctx.save();
    ctx.strokeStyle = style("--muted");
    ctx.lineWidth = ratio;
    for (const mark of marks) {
      const x = plot.valToPos(mark.time, "x", true);
      if (x < bbox.left || x > bbox.left + bbox.width) continue;
      ctx.setLineDash([3 * ratio, 3 * ratio]);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top + 10 * ratio);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      ctx.setLineDash([]);
      ctx.beginPath();
      if (mark.kind === "note") ctx.rect(x - 4 * ratio, bbox.top + ratio, 8 * ratio, 8 * ratio);
      else ctx.arc(x, bbox.top + 5 * ratio, 4 * ratio, 0, 2 * Math.PI);
      ctx.stroke();
    }
    ctx.restore();
  }

  function readout(box, data, index) {
    const out = box.closest("figure")?.querySelector("[data-readout]");
    if (!out) return;
    const at = index ?? data.times.length - 1;
    const form = { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" };
    const when = dated(data.zone, data.times[at], form);
    const near = data.marks.find((mark) => Math.abs(mark.time - data.times[at]) < (data.times.at(-1) - data.times[0]) / 120);
    const fall = data.drawdown[at] === 0 ? "at its peak" : `${cents().format(-data.drawdown[at]).replaceAll(",", "\u202f")} below the peak`;
    out.textContent = `${when}: ${money(data.equity[at], cents)} USDT, ${fall}${index != null && near ? `. ${near.label}` : ""}`;
  }

  function common(box, data, width, height, key) {
    return {
      width,
      height,
      legend: { show: false },
      padding: [8, 0, 0, 0],
      cursor: { y: false, drag: { x: false, y: false }, sync: { key }, points: { size: 7 } },
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), data.zone),
      hooks: {
        init: [(plot) => { plot.zone = data.zone; }],
        setCursor: [(plot) => readout(box, data, plot.cursor.idx)],
      },
    };
  }

  async function build(box, data) {
    const colours = axisColours();
    const key = uPlot.sync(box.id || "equity").key;
    const width = box.clientWidth;
    const above = common(box, data, width, width < 480 ? 200 : 260, key);
    above.hooks.draw = [(plot) => drawMarks(plot, data.marks)];
    above.axes = [xAxis(colours, true), yAxis(colours, 44)];
    above.scales = { y: { range: (plot, low, high) => uPlot.rangeNum(Math.min(low, 0), Math.max(high, 0), 0.08, true) } };
    above.series = [{}, { stroke: style("--accent"), width: 2, fill: style("--accent-area"), points: { show: false } }];

    const below = common(box, data, width, 76, key);
    below.padding = [2, 0, 4, 0];
    below.axes = [xAxis(colours, false), yAxis(colours, 30)];
    below.axes[1].values = (plot, splits) => splits.map((value) => (value === 0 ? null : money(value)));
    below.scales = { y: { range: (plot, low) => [Math.min(low, -1) * 1.05, 0] } };
    below.series = [{}, { stroke: style("--loss"), width: 1, fill: style("--loss-soft"), points: { show: false } }];

    const first = box.querySelector("[data-plot=equity]");
    const second = box.querySelector("[data-plot=drawdown]");
    await pause();
    first.replaceChildren();
    const equity = new uPlot(above, [data.times, data.equity], first);
    await pause();
    second.replaceChildren();
    return [equity, new uPlot(below, [data.times, data.drawdown], second)];
  }

  const STEPS = { ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20, Home: -Infinity, End: Infinity };

  function byKeyboard(box, data, plots) {
    let index = null;
    box.onkeydown = (event) => {
      const step = STEPS[event.key];
      if (step === undefined) return;
      event.preventDefault();
      const last = data.times.length - 1;
      index = Math.max(0, Math.min(last, (index ?? last) + step));
      const left = plots()[0].valToPos(data.times[index], "x");
      plots().forEach((plot) => plot.setCursor({ left, top: 10 }));
      readout(box, data, index);
    };
  }

  async function dataOf(box) {
    const answer = await fetch(box.dataset.chart, { headers: { "HX-Request": "true" } });
    if (!answer.ok || !answer.headers.get("Content-Type").startsWith("application/json")) throw new Error("no points");
    return answer.json();
  }

  // Keys that are pressed while the points are on their way are not lost, and do not scroll the page.
  function keepKeys(box) {
    const pressed = [];
    box.onkeydown = (event) => {
      if (!(event.key in STEPS)) return;
      event.preventDefault();
      pressed.push(event.key);
    };
    return () => pressed.forEach((key) => box.dispatchEvent(new KeyboardEvent("keydown", { key })));
  }

  async function start(box) {
    if (box.dataset.drawn) return;
    box.dataset.drawn = "1";
    const again = keepKeys(box);
    try {
      const [data] = await Promise.all([dataOf(box), loaded()]);
      if (box.isConnected) await draw(box, data);
      again();
    } catch {
      // The picture stays as it is; the next pointing tries again.
      box.onkeydown = null;
      library = undefined;
      delete box.dataset.drawn;
    }
  }

  async function draw(box, data) {
    let plots = await build(box, data);
    let drawn = Promise.resolve();
    const again = () => {
      drawn = drawn.then(async () => {
        const before = plots;
        plots = await build(box, data);
        before.forEach((plot) => plot.destroy());
      });
    };
    let width = box.clientWidth;
    new ResizeObserver(() => {
      if (box.clientWidth && box.clientWidth !== width) {
        width = box.clientWidth;
        again();
      }
    }).observe(box);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
    new MutationObserver(again).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme", "data-gain", "class"] });
    byKeyboard(box, data, () => plots);
    readout(box, data, null);
  }

  // T: from a picture to its table, and back.
  document.addEventListener("keydown", (event) => {
    if (event.key !== "t" || event.ctrlKey || event.metaKey || event.altKey) return;
    const box = event.target.closest?.("[data-table]");
    const table = document.getElementById(box?.dataset.table ?? event.target.closest?.("details[id$=-table]")?.id);
    if (!table) return;
    event.preventDefault();
    const link = table.querySelector(":scope > a");
    if (!link) table.open = Boolean(box);
    (box ? link ?? table.querySelector("summary") : document.querySelector(`[data-table="${table.id}"]`))?.focus();
    link?.click(); // the table comes in its place, and takes the focus
  });

  // The calendar is one stop of the tab key; arrow keys move by days and weeks, and the day is told below.
  document.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 }[event.key];
    const calendar = event.target.closest?.("[data-calendar]");
    if (!calendar || !step || !event.target.dataset.day) return;
    event.preventDefault();
    const day = new Date(`${event.target.dataset.day}T00:00:00Z`);
    day.setUTCDate(day.getUTCDate() + step);
    const next = calendar.querySelector(`[data-day="${day.toISOString().slice(0, 10)}"]`);
    if (!next) return;
    event.target.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
  // Its days come when somebody goes there: from the calendar on to the day that the keys were at.
  document.addEventListener("focusin", (event) => {
    if (event.target.matches("[data-calendar]")) event.target.querySelector("[tabindex='0']").focus();
  });
  const tellDay = (event) => {
    const link = event.target.closest?.("[data-day]");
    const out = link?.closest("section")?.querySelector("[data-day-readout]");
    if (out) out.textContent = link.querySelector("title").textContent;
  };
  document.addEventListener("focusin", tellDay);
  document.addEventListener("pointerover", tellDay);

  // Forms outside of the part lead back to the period that is shown now.
  document.addEventListener("htmx:afterSettle", () => {
    for (const form of document.querySelectorAll("form[data-keeps-query]")) {
      form.action = form.action.split("?")[0] + location.search;
    }
  });

  function awaitReader(box) {
    if (box.dataset.waits) return;
    box.dataset.waits = "1";
    for (const name of ["pointerenter", "focus"]) box.addEventListener(name, () => start(box));
  }
  const startAll = (root) => root.querySelectorAll("[data-chart]").forEach(awaitReader);
  document.addEventListener("DOMContentLoaded", () => startAll(document));
  document.addEventListener("htmx:afterSwap", (event) => startAll(event.target));
})();
