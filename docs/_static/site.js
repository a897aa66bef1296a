// What scrolls sideways can be scrolled by keyboard, too, and captions of the sidebar say their level.
(() => {
  const wide = "article pre, .formula, .table-wrapper";
  const mark = () => {
    for (const box of document.querySelectorAll(wide)) {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  };
  const start = () => {
    for (const caption of document.querySelectorAll('[role="heading"]:not([aria-level])'))
      caption.setAttribute("aria-level", "2");
    mark();
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
  window.addEventListener("load", mark); // fonts change widths
  window.addEventListener("resize", mark);
})();
