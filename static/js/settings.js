/* Copy settings: what is wrong is told to screen readers too, a problem's link opens its card, and a form that
   sends is pressed once. Without this file everything still works. */
(() => {
  "use strict";

  const mark = (note) => {
    const input = document.querySelector(`[aria-describedby="${CSS.escape(note.id)}"]`);
    if (!input) return;
    if (note.querySelector(".field-errors")) input.setAttribute("aria-invalid", "true");
    else input.removeAttribute("aria-invalid");
  };
  document.addEventListener("htmx:oobAfterSwap", (event) => {
    if (event.detail.target?.classList.contains("note")) mark(event.detail.target);
  });
  document.addEventListener("htmx:afterSettle", () => document.querySelectorAll(".settings .note").forEach(mark));

  document.addEventListener("click", (event) => {
    const link = event.target.closest(".problems a");
    if (!link) return;
    const target = document.getElementById(link.hash.slice(1));
    if (!target) return;
    event.preventDefault();
    const card = target.closest("details");
    if (card) card.open = true;
    target.scrollIntoView({ block: "center" });
    target.focus({ preventScroll: true });
  });

  document.addEventListener("submit", (event) => {
    const form = event.target.closest("form[data-once]");
    if (!form) return;
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "1";
    form.querySelector(".button-primary")?.setAttribute("aria-disabled", "true");
  });
  window.addEventListener("pageshow", () => {
    document.querySelectorAll("form[data-once]").forEach((form) => {
      delete form.dataset.sent;
      form.querySelector(".button-primary")?.removeAttribute("aria-disabled");
    });
  });
})();
