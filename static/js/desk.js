// Small behaviours of every page. Each has a way without JavaScript: this file only makes it quicker.
"use strict";

// --- the look: set at once, remembered in a cookie that the server reads ---
document.addEventListener("submit", (event) => {
  const form = event.target;
  const button = event.submitter;
  if (!(form instanceof HTMLFormElement) || !form.dataset.look || !button) return;
  event.preventDefault();
  const name = button.name;
  document.documentElement.dataset[name] = button.value;
  const secure = location.protocol === "https:" ? "; secure" : "";
  document.cookie = `${name}=${button.value}; path=/; max-age=31536000; samesite=lax${secure}`;
  for (const other of document.querySelectorAll(`button[name="${name}"]`)) {
    other.setAttribute("aria-pressed", String(other.value === button.value));
  }
  document.dispatchEvent(new CustomEvent("desk:look"));
});

// --- a form is sent once; its button says that it is on its way ---
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || !(form instanceof HTMLFormElement) || form.method !== "post") return;
  if (form.dataset.sent) {
    event.preventDefault();
    return;
  }
  form.dataset.sent = "yes";
  if (event.submitter) event.submitter.setAttribute("aria-disabled", "true");
});
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
  for (const button of document.querySelectorAll("form [aria-disabled]")) button.removeAttribute("aria-disabled");
});

// --- the sheet under "More" closes like a menu ---
document.addEventListener("click", (event) => {
  for (const open of document.querySelectorAll("details.more[open]")) {
    if (!open.contains(event.target)) open.open = false;
  }
});

// --- copy to the clipboard ---
document.addEventListener("click", async (event) => {
  const button = event.target instanceof Element && event.target.closest("[data-copy]");
  if (!button) return;
  const source = document.getElementById(button.dataset.copy);
  try {
    await navigator.clipboard.writeText(source.value ?? source.textContent);
    toast("Copied.");
  } catch {
    source.focus();
    source.select?.();
  }
});
for (const button of document.querySelectorAll("[data-copy][hidden]")) button.hidden = false;

// --- one short sentence at the lower edge ---
let toastTimer;
function toast(text) {
  const box = document.getElementById("toast");
  box.textContent = text;
  box.hidden = false;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => { box.hidden = true; }, 5000);
}
document.addEventListener("desk:toast", (event) => toast(event.detail.text));
document.addEventListener("htmx:sendError", () => toast("The desk cannot be reached. What you see may be old."));

// --- ages count on between readings ---
function words(seconds) {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172800) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86400)} days`;
}
// Counted from the moment an age was seen here: this machine's clock may differ from the server's.
const seen = new WeakMap();
function tick() {
  const now = performance.now();
  for (const time of document.querySelectorAll("time[data-age]")) {
    if (!seen.has(time)) seen.set(time, now);
    const age = `${words(Number(time.dataset.age) + Math.floor((now - seen.get(time)) / 1000))} ago`;
    if (time.textContent !== age) time.textContent = age; // what is written anew is laid out anew, the same or not
  }
}
tick();
document.addEventListener("htmx:afterSettle", tick);
setInterval(tick, 5000);
