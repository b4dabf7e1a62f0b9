// What pages can do beyond being read: sort, search, filter and hide columns, with the state in the address; copy; compare.
"use strict";
(() => {
  const make = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (value !== false) node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children);
    return node;
  };

  // The address holds only what differs from the page as it was written.
  const address = {
    get: (key) => new URLSearchParams(location.search).get(key),
    set: (key, value) => {
      const all = new URLSearchParams(location.search);
      if (value) all.set(key, value); else all.delete(key);
      const query = all.toString();
      history.replaceState(null, "", location.pathname + (query ? `?${query}` : "") + location.hash);
    },
  };

  // Cells with data-order sort by that number, and what has none comes last in either direction.
  const byNumber = (sign) => (a, b) => (a === "" || b === "" ? (a === "") - (b === "") : sign * (a - b));
  DataTable.type("number-or-nothing", { order: { asc: byNumber(1), desc: byNumber(-1) } });

  function enhance(tools) {
    const table = document.getElementById(tools.dataset.for);
    const id = tools.dataset.for;
    const heads = [...table.tHead.querySelectorAll("th:not([data-dt-order])")];
    const names = columnNames(table);
    const ordered = [...(table.tBodies[0].rows[0]?.cells ?? [])].flatMap((cell, number) => ("order" in cell.dataset ? number : []));
    const filters = heads.filter((head) => head.dataset.filter).map((head) => names.findIndex((one) => one.head === head));
    const data = new DataTable(table, {
      paging: false, info: false, autoWidth: false, order: [], orderMulti: false,
      layout: { topStart: null, topEnd: null, bottomStart: null, bottomEnd: null },
      columnDefs: [{ targets: ordered, type: "number-or-nothing" }],
      language: { zeroRecords: "No row fits the search." },
    });
    const found = make("span", { class: "found", role: "status" });
    const count = () => {
      const [now, all] = [data.rows({ search: "applied" }).count(), data.rows().count()];
      found.textContent = now === all ? `${all} rows` : `${now} of ${all} rows`;
    };

    // Columns keep the widths they have while rows come and go.
    const hold = () => {
      const widths = names.map(({ head }) => head.getBoundingClientRect().width);
      names.forEach(({ head }, number) => { if (!head.style.minWidth && widths[number]) head.style.minWidth = `${widths[number]}px`; });
    };
    const release = () => names.forEach(({ head }) => { head.style.minWidth = ""; });
    addEventListener("resize", release);

    // Every word must be somewhere in a row, also in a column that is hidden.
    const texts = data.rows().nodes().toArray().map((row) => row.textContent.toLowerCase());
    const search = make("input", { type: "search", value: address.get(`${id}.q`) ?? "" });
    const look = () => {
      const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      data.search.fixed("words", wanted.length ? (_, __, row) => wanted.every((word) => texts[row].includes(word)) : null);
    };
    search.addEventListener("input", () => { hold(); look(); data.draw(); address.set(`${id}.q`, search.value); });
    tools.append(make("label", {}, "Search", search));
    look();
    const undo = [() => { search.value = ""; look(); address.set(`${id}.q`, ""); }];

    for (const number of filters) {
      const key = `${id}.f${number}`;
      const kinds = [...new Set(data.column(number).nodes().toArray().map(words))].sort();
      const select = make("select", {}, make("option", { value: "" }, "all"), ...kinds.map((kind) => make("option", { value: kind }, kind)));
      const filter = () => {
        data.column(number).search.fixed("chosen", select.value ? (_, __, row) => words(data.cell(row, number).node()) === select.value : null);
        address.set(key, select.value);
      };
      select.addEventListener("change", () => { hold(); filter(); data.draw(); });
      tools.append(make("label", {}, names[number].text, select));
      if (kinds.includes(address.get(key))) { select.value = address.get(key); filter(); }
      undo.push(() => { select.value = ""; filter(); });
    }

    const hidden = new Set((address.get(`${id}.hide`) ?? "").split(",").filter(Boolean).map(Number));
    const boxes = names.slice(1).map(({ text }, index) => {
      const number = index + 1;
      const show = () => {
        release();
        data.column(number).visible(box.checked);
        if (box.checked) hidden.delete(number); else hidden.add(number);
        address.set(`${id}.hide`, [...hidden].sort((a, b) => a - b).join(","));
      };
      const box = make("input", { type: "checkbox", onchange: show });
      box.checked = !hidden.has(number);
      if (!box.checked) data.column(number).visible(false);
      undo.push(() => { if (!box.checked) { box.checked = true; show(); } });
      return make("label", {}, box, text);
    });
    tools.append(folding("Columns", ...boxes));

    const off = new Set((address.get(`${id}.no`) ?? "").split(",").filter(Boolean));
    for (const line of (tools.dataset.lines ?? "").split(",").filter(Boolean)) {
      const show = () => {
        release();
        table.classList.toggle(`no-${line}`, !box.checked);
        if (box.checked) off.delete(line); else off.add(line);
        address.set(`${id}.no`, [...off].join(","));
      };
      const box = make("input", { type: "checkbox", onchange: show });
      box.checked = !off.has(line);
      table.classList.toggle(`no-${line}`, !box.checked);
      undo.push(() => { if (!box.checked) { box.checked = true; show(); } });
      tools.append(make("label", {}, box, line));
    }

    const [column, direction] = (address.get(`${id}.sort`) ?? "").split(".");
    if (Number(column) in names && column) data.order([Number(column), direction === "desc" ? "desc" : "asc"]);
    undo.push(() => data.order([]));
    tools.append(make("button", { type: "button", onclick: () => { release(); undo.forEach((one) => one()); data.draw(); } }, "Reset"), found);
    data.on("draw", count);
    data.draw();
    data.on("order", () => {
      const [first] = data.order();
      address.set(`${id}.sort`, first?.[1] ? `${first[0]}.${first[1]}` : "");
    });
    table.tHead.addEventListener("keydown", (event) => {
      if (event.key !== " " || !event.target.matches("[role=button]")) return;
      event.preventDefault();
      event.target.click();
    });
    tools.hidden = false;
  }

  // A small menu over the page: closed by Escape and by going elsewhere.
  function folding(title, ...content) {
    const summary = make("summary", {}, title);
    const menu = make("details", {}, summary, make("div", {}, ...content));
    for (const leaving of ["pointerdown", "focusin"]) {
      document.addEventListener(leaving, ({ target }) => { if (!menu.contains(target)) menu.open = false; });
    }
    menu.addEventListener("keydown", ({ key }) => { if (key === "Escape") { menu.open = false; summary.focus(); } });
    return menu;
  }

  const words = (cell) => (cell.querySelector(".verdict")?.lastChild ?? cell).textContent.trim();

  // A column's name: its own head, after that of its group.
  function columnNames(table) {
    const found = [];
    [...table.tHead.rows].forEach((row, level) => {
      let at = 0;
      for (const head of row.cells) {
        while (found[at]?.until > level) at += 1;
        for (let width = 0; width < head.colSpan; width += 1, at += 1) {
          const before = found[at]?.text ?? "";
          const text = `${before} ${head.textContent.replace(/\s+/g, " ").trim()}`.trim();
          found[at] = { head, text, until: level + head.rowSpan };
        }
      }
    });
    return found;
  }

  function addCopying(pre) {
    const said = make("span", { role: "status", class: "unseen" });
    const button = make("button", { type: "button", class: "copier", onclick: async () => {
      try {
        await navigator.clipboard.writeText(pre.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(pre);
        button.textContent = "Selected";
      }
      said.textContent = button.textContent;
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    } }, "Copy");
    const box = make("div", { class: "copybox" });
    pre.replaceWith(box);
    box.append(pre, button, said);
  }

  // Two methods on one task, seed by seed. The arithmetic of the mean and its interval; places and verdicts are not made here.
  function compare(picker) {
    const data = JSON.parse(document.getElementById("compare-data").textContent);
    const choose = (label, key, options, chosen) => {
      const select = make("select", {}, ...options.map((text, value) => make("option", { value }, text)));
      const stored = Number(address.get(key) ?? NaN);
      select.value = stored in options ? stored : chosen;
      select.addEventListener("change", () => { address.set(key, select.value); show(); });
      picker.append(make("label", {}, label, select));
      return select;
    };
    const output = make("output", {});
    const rows = data.rows.map((one) => one.label);
    const reference = Number(picker.dataset.reference);
    const left = choose("Method", "a", rows, reference === 0 ? Math.min(1, rows.length - 1) : 0);
    const right = choose("minus", "b", rows, reference);
    const task = choose("on", "task", data.tasks.map((one) => `${one.title} (${one.id}, ${one.metric})`), 0);
    picker.append(output);

    function show() {
      const [scale, digits, name] = data.tasks[task.value].unit === "percent" ? [100, 1, " points"] : [1, 3, ""];
      const value = (number, sign = false) => {
        const text = (number * scale).toFixed(digits);
        return Number(text) === 0 ? text.replace("-", "") : (sign && number > 0 ? "+" : "") + text.replace("-", "−");
      };
      const pair = [Number(left.value), Number(right.value)];
      const [a, b] = pair.map((row) => data.rows[row]);
      const apart = data.unpairable.find(([one, other]) => pair.includes(one) && pair.includes(other) && one !== other)?.[2] ?? [];
      const shared = data.seeds.map((seed, at) => [seed, a.values[task.value][at], b.values[task.value][at]])
        .filter(([seed, ours, theirs]) => ours !== null && theirs !== null && !apart.includes(seed));
      const differences = shared.map(([, ours, theirs]) => ours - theirs);
      const n = differences.length;
      const mean = differences.reduce((sum, one) => sum + one, 0) / n;
      const spread = Math.sqrt(differences.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (n - 1));
      const half = n > 1 ? ` ± ${value(data.quantiles[n] * spread / Math.sqrt(n))}` : "";
      const left_out = apart.length ? ` Left out, since the seed did not mean the same to both: ${apart.join(", ")}.` : "";
      const told = n ? `Mean difference ${value(mean, true)}${half}${name} over ${n} ${n === 1 ? "seed" : "seeds"}.`
        : "There is no seed at which the two may be paired.";
      const lines = shared.map(([seed, ours, theirs], at) => make("tr", {}, make("th", { scope: "row" }, String(seed)),
        ...[value(ours), value(theirs), value(differences[at], true)].map((text) => make("td", {}, text))));
      output.replaceChildren(make("p", {}, told + left_out), make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Seed by seed" },
        make("table", {}, make("caption", { class: "unseen" }, "Seed by seed"),
          make("thead", {}, make("tr", {}, ...["Seed", a.label, b.label, "Difference"].map((text) => make("th", { scope: "col" }, text)))),
          make("tbody", {}, ...lines))));
    }
    show();
    picker.hidden = false;
  }

  // One file: show the page that the address names, or that holds the place it names.
  function paginate() {
    const pages = [...document.querySelectorAll("section.page")];
    const improved = new Set();
    const turn = () => {
      const target = place();
      const current = target?.closest("section.page") ?? pages[0];
      if (!improved.has(current)) { improved.add(current); improve(current); }
      for (const page of pages) page.classList.toggle("current", page === current);
      document.title = current.dataset.title;
      if (target && target !== current) target.scrollIntoView(); else scrollTo(0, 0);
    };
    document.body.classList.add("paged");
    addEventListener("hashchange", turn);
    turn();
  }

  // The place that the address names, if there is one.
  function place() {
    try {
      return document.getElementById(decodeURIComponent(location.hash.slice(1)));
    } catch {
      return null;
    }
  }

  // A place inside of something folded is unfolded when the address leads there; everything is, on paper.
  function unfold() {
    for (let node = place(); node; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
  }
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open]):not(.export)")];
    for (const one of opened) one.open = true;
  });
  addEventListener("afterprint", () => { for (const one of opened) one.open = false; });

  function improve(root) {
    root.querySelectorAll(".tools[data-for]").forEach(enhance);
    root.querySelectorAll("pre.copy").forEach(addCopying);
    root.querySelectorAll(".picker").forEach(compare);
  }
  if (document.body.classList.contains("single")) paginate(); else improve(document);
  addEventListener("hashchange", unfold);
  unfold();
})();
