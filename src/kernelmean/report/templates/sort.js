// Tables can be sorted by a click on a head of a column. Without this script they stay as they were written.
for (const table of document.querySelectorAll(".scroll > table")) {
  const [body] = table.tBodies, heads = [...table.tHead.rows[0].cells];
  if (body.rows.length < 3) continue;
  const value = (row, k, numeric) => {
    const text = row.cells[k].textContent.trim();
    return numeric ? parseFloat(text.replace(/[,\s]/g, "").replace(/−/g, "-").replace(/^[<>≤≥~≈(+]+/, "")) : text;
  };
  const compared = (a, b) => typeof a === "string" ? a.localeCompare(b, undefined, { numeric: true }) : a - b;
  heads.forEach((head, k) => {
    if (!head.textContent.trim() || head.classList.contains("drawn")) return;
    const numeric = head.classList.contains("number"), button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const first = numeric ? "descending" : "ascending", other = numeric ? "ascending" : "descending";
      const order = head.getAttribute("aria-sort") === first ? other : first, sign = order === "ascending" ? 1 : -1;
      for (const each of heads) each.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", order);
      const rows = [...body.rows].map(row => [value(row, k, numeric), row]);
      const missing = ([a]) => Number.isNaN(a) || a === "";
      rows.sort((a, b) => missing(a) - missing(b) || sign * compared(a[0], b[0]));
      body.append(...rows.map(([, row]) => row));
    });
  });
}
