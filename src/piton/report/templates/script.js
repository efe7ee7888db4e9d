"use strict";
// The page works without this: it adds sorting, filters, the theme button, one case's parts side by side, and opens what a link points into.
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const remember = (value) => { try { localStorage.setItem("piton-theme", value); } catch (error) { /* a file: page may have no storage */ } };
  const remembered = () => { try { return localStorage.getItem("piton-theme"); } catch (error) { return null; } };
  const dark = document.getElementById("dark");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (dark.media === "all" ? true : dark.media === "not all" ? false : system.matches);
  const setTheme = (theme) => { dark.media = theme === "dark" ? "all" : "not all"; };
  if (remembered()) setTheme(remembered());
  const button = document.getElementById("theme");
  const label = () => { button.textContent = isDark() ? "Light" : "Dark"; };
  button.hidden = false;
  button.addEventListener("click", () => { const theme = isDark() ? "light" : "dark"; setTheme(theme); remember(theme); label(); });
  system.addEventListener("change", label);
  label();

  const reveal = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let part = target; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
    target.scrollIntoView({ block: "center" });
  };
  addEventListener("hashchange", reveal);
  reveal();
  addEventListener("beforeprint", () => all("details.operator").forEach((part) => { part.open = true; }));

  const key = (cell) => {
    const text = cell ? cell.textContent.trim() : "";
    const number = parseFloat(text.replace(/[\u202f,]/g, ""));
    return Number.isNaN(number) ? (text === "–" || !text ? null : text.toLowerCase()) : number;
  };
  const compare = (a, b) => (typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1);
  const sort = (head) => {
    const table = head.closest("table");
    const column = [...head.parentElement.children].indexOf(head);
    const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    all("th[aria-sort]", table).forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => [key(row.cells[column]), row]);
    rows.sort((a, b) => (a[0] === null || b[0] === null ? (a[0] === null) - (b[0] === null) : sign * compare(a[0], b[0])));  // what is missing comes last
    body.append(...rows.map(([, row]) => row));
  };
  all("table.sortable th").forEach((head) => {
    head.classList.add("sorts");
    head.tabIndex = 0;
    head.title = head.title || "sort";
    head.addEventListener("click", () => sort(head));
    head.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); sort(head); } });
  });

  // One case in a dialog: every row, failure and timeline that is about it, gathered from its operator's tables.
  const dialog = document.getElementById("case");
  if (!dialog) return;  // a comparison has neither cases to open nor filters
  const body = dialog.querySelector("div");
  const copy = (element) => {
    const made = element.cloneNode(true);
    [made, ...all("[id]", made)].forEach((part) => part.removeAttribute("id"));
    return made;
  };
  const element = (name, ...content) => { const made = document.createElement(name); made.append(...content); return made; };
  const headOf = (table) => {
    const part = table.closest("details.part");
    if (part) return part.querySelector("summary").textContent;
    for (let before = table.parentElement.previousElementSibling; before; before = before.previousElementSibling) if (before.tagName === "H3") return before.textContent;
    return "Result";
  };
  const pairs = (table, row) => {
    const heads = all("thead th", table);
    const list = element("dl");
    list.className = "pairs";
    [...row.cells].forEach((cell, column) => {
      if (!cell.textContent.trim() || !heads[column]) return;
      const value = cell.querySelector(".drill") ? element("dd", cell.textContent) : element("dd", ...copy(cell).childNodes);
      value.className = ["bad", "good", "none"].find((name) => cell.classList.contains(name)) || "";
      list.append(element("dt", [...heads[column].childNodes].map((part) => part.textContent.trim()).join(" ")), value);
    });
    return list;
  };
  const parts = (row) => {
    const section = row.closest("details.operator");
    const id = row.dataset.c;
    const found = [];
    all("table", section).forEach((table) => {
      const rows = [...table.tBodies[0].rows].filter((other) => other.dataset.c === id);
      if (rows.length && !table.closest(".failure")) found.push(element("h4", headOf(table)), ...rows.map((other) => pairs(table, other)));
    });
    const own = (selector) => all(selector, section).filter((part) => all("a", part).some((link) => link.hash === `#${row.id}`));
    const figures = all("figure[data-c]", section).filter((figure) => figure.dataset.c === id);
    const failures = own("div.failure").map((failure) => {
      const made = copy(failure);
      all("tr[data-c]", made).forEach((line) => { if (line.dataset.c !== id) line.remove(); });
      return made;
    });
    return [...failures, ...found.slice(0, 2), ...figures.map(copy), ...found.slice(2)];
  };
  let current = null;
  const show = (row) => {
    current = row;
    dialog.querySelector("span").textContent = `${row.closest("details.operator").dataset.name} ${row.dataset.c}`;
    body.replaceChildren(...parts(row));
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
  };
  const step = (by) => {
    const rows = all("table.cases tbody tr").filter((row) => !row.hidden);
    const next = rows[rows.indexOf(current) + by];
    if (next) show(next);
  };
  all("button[data-step]", dialog).forEach((one) => one.addEventListener("click", () => step(Number(one.dataset.step))));
  body.addEventListener("click", (event) => { if (event.target.closest("a")) dialog.close(); });
  const openable = (section) => all("table.cases tbody tr", section).forEach((row) => {
    const cell = row.cells[0];
    if (cell.querySelector(".drill")) return;
    const button = element("button", cell.textContent);
    button.className = "drill";
    button.type = "button";
    button.title = `everything about case ${row.dataset.c}`;
    button.addEventListener("click", () => show(row));
    cell.replaceChildren(button);
  });
  all("details.operator").forEach((section) => {
    section.addEventListener("toggle", () => openable(section));
    if (section.open) openable(section);
  });

  const filters = document.getElementById("filters");
  if (!filters) return;
  filters.hidden = false;
  const [text, verdict, size] = ["text", "verdict", "size"].map((name) => filters.querySelector(`[name=${name}]`));
  const shown = document.getElementById("shown");
  const matches = (row, name) => {
    const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const content = `${name} ${row.textContent}`.toLowerCase();
    return words.every((word) => content.includes(word)) && (!verdict.value || row.dataset.v === verdict.value) && (!size.value || row.dataset.s === size.value);
  };
  const apply = () => {
    const isFiltered = Boolean(text.value.trim() || verdict.value || size.value);
    let count = 0;
    all("details.operator").forEach((part) => {
      const rows = all("table.cases tbody tr", part);
      const found = rows.filter((row) => { row.hidden = !matches(row, `${part.dataset.name} ${part.dataset.group}`); return !row.hidden; }).length;
      const left = new Set(rows.filter((row) => !row.hidden).map((row) => row.dataset.c));
      all("tr[data-c]", part).forEach((row) => { row.hidden = !left.has(row.dataset.c); });
      part.hidden = isFiltered && found === 0;
      if (isFiltered && found) part.open = true;
      count += found;
    });
    shown.textContent = isFiltered ? `${count} cases shown` : "";
  };
  [text, verdict, size].forEach((field) => field.addEventListener("input", apply));
  all("button[data-open]", filters).forEach((one) => one.addEventListener("click", () => {
    all("details.operator").forEach((part) => { part.open = one.dataset.open === "1"; });
  }));
})();
