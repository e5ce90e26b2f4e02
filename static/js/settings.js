/* Copy settings: what is wrong is told to screen readers too, and a problem's link opens its card.
   Without this file everything still works. */
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
  document.addEventListener("htmx:afterSettle", () => document.querySelectorAll("#u .field > .note").forEach(mark));

  document.addEventListener("click", (event) => {
    const link = event.target.closest(".problems a");
    if (!link) return;
    const target = document.getElementById(link.hash.slice(1));
    if (!target) return;
    event.preventDefault();
    const hidden = target.closest("[hidden]");
    if (hidden) hidden.hidden = false;
    const opener = target.closest("tbody")?.querySelector(".open");
    if (opener) opener.checked = true;
    const card = target.closest("details");
    if (card) card.open = true;
    target.scrollIntoView({ block: "center" });
    target.focus({ preventScroll: true });
  });
})();
