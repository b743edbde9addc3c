(function () {
  var bar = document.querySelector(".toggle");
  if (!bar) { return; }
  var buttons = bar.querySelectorAll("button");
  function show(which) {
    buttons.forEach(function (b) { b.setAttribute("aria-pressed", String(b.value === which)); });
    document.querySelectorAll("[data-map]").forEach(function (m) { m.hidden = m.dataset.map !== which; });
  }
  buttons.forEach(function (b) { b.addEventListener("click", function () { show(b.value); }); });
  bar.hidden = false;
  show("before");
})();
