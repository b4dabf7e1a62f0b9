// Sort, search, filter and hide columns, with the state in the address; copy buttons; comparison of two methods; a
// search over all pages.
"use strict";
(() => {
  const script = document.currentScript.src;
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

  // Cells with data-order sort by that number; cells without one come last in either direction.
  const byNumber = (sign) => (a, b) => (a === "" || b === "" ? (a === "") - (b === "") : sign * (a - b));
  DataTable.type("number-or-nothing", { order: { asc: byNumber(1), desc: byNumber(-1) } });

  const wordsOf = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);

  function enhance(tools) {
    const id = tools.dataset.for;
    const table = document.getElementById(id);
    const sortable = [...(table.tBodies[0].rows[0]?.cells ?? [])].flatMap((cell, number) => ("order" in cell.dataset ? number : []));
    const data = new DataTable(table, {
      paging: false, info: false, autoWidth: false, order: [], orderMulti: false,
      layout: { topStart: null, topEnd: null, bottomStart: null, bottomEnd: null },
      columnDefs: [{ targets: sortable, type: "number-or-nothing" }],
      language: { zeroRecords: "No matching rows." },
    });
    const heads = data.columns().header().toArray();
    const names = heads.map((head) => head.dataset.name ?? head.textContent.trim());
    const undo = [];

    // Columns keep the widths they have while rows come and go.
    const hold = () => {
      const widths = heads.map((head) => head.getBoundingClientRect().width);
      heads.forEach((head, number) => { if (!head.style.minWidth && widths[number]) head.style.minWidth = `${widths[number]}px`; });
    };
    const release = () => heads.forEach((head) => { head.style.minWidth = ""; });
    addEventListener("resize", release);

    // Every word must be somewhere in a row, also in a column that is hidden.
    const texts = data.rows().nodes().toArray().map((row) => [...row.cells].map((cell) => cell.textContent).join(" ").toLowerCase());
    const search = make("input", { type: "search", value: address.get(`${id}.q`) ?? "" });
    const look = () => {
      const wanted = wordsOf(search.value);
      data.search.fixed("words", wanted.length ? (_, __, row) => wanted.every((word) => texts[row].includes(word)) : null);
      address.set(`${id}.q`, search.value);
    };
    search.addEventListener("input", () => { hold(); look(); data.draw(); });
    look();
    undo.push(() => { search.value = ""; look(); });
    tools.append(make("label", {}, "Search", search));

    heads.forEach((head, number) => {
      if (!head.dataset.filter) return;
      const key = `${id}.f${number}`;
      const kinds = [...new Set(data.column(number).nodes().toArray().map(words))].sort();
      const select = make("select", {}, make("option", { value: "" }, "all"), ...kinds.map((kind) => make("option", { value: kind }, kind)));
      const filter = () => {
        data.column(number).search.fixed("chosen", select.value ? (_, __, row) => words(data.cell(row, number).node()) === select.value : null);
        address.set(key, select.value);
      };
      select.addEventListener("change", () => { hold(); filter(); data.draw(); });
      if (kinds.includes(address.get(key))) { select.value = address.get(key); filter(); }
      undo.push(() => { select.value = ""; filter(); });
      tools.append(make("label", {}, names[number], select));
    });

    // Boxes of things to show; the address has those that are hidden.
    const boxes = (key, labels, show) => {
      const hidden = (address.get(key) ?? "").split(",");
      const all = labels.map(([value, text]) => {
        const box = make("input", { type: "checkbox", value, onchange: () => { release(); change(); } });
        box.checked = !hidden.includes(box.value);
        show(value, box.checked);
        return make("label", {}, box, text);
      });
      const change = () => {
        for (const { firstChild: box } of all) show(box.value, box.checked);
        address.set(key, all.flatMap(({ firstChild: box }) => (box.checked ? [] : box.value)).join(","));
      };
      undo.push(() => { for (const { firstChild: box } of all) box.checked = true; change(); });
      return all;
    };
    const columns = names.map((name, number) => [number, name]).slice(1);
    tools.append(folding("Columns", ...boxes(`${id}.hide`, columns, (number, shown) => data.column(Number(number)).visible(shown))));
    const lines = (tools.dataset.lines ?? "").split(",").filter(Boolean).map((line) => [line, line]);
    tools.append(...boxes(`${id}.no`, lines, (line, shown) => table.classList.toggle(`no-${line}`, !shown)));

    const [column, direction] = (address.get(`${id}.sort`) ?? "").split(".");
    if (column && column in names) data.order([Number(column), direction === "desc" ? "desc" : "asc"]);
    undo.push(() => data.order([]));

    const status = make("span", { class: "found", role: "status" });
    const count = () => {
      const [shown, all] = [data.rows({ search: "applied" }).count(), data.rows().count()];
      status.textContent = `${shown === all ? all : `${shown} of ${all}`} ${all === 1 ? "row" : "rows"}`;
    };
    const reset = () => { release(); undo.forEach((step) => step()); data.draw(); };
    tools.append(make("button", { type: "button", onclick: reset }, "Reset"), status);
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

  // On a phone a row is a card: each of its cells says the name of its column, which is read from the head.
  function addLabels(table) {
    const places = [];
    [...table.tHead.rows].forEach((row, line) => {
      let at = 0;
      for (const head of row.cells) {
        while (places[at]?.until > line) at += 1;
        const name = head.cloneNode(true);
        name.querySelectorAll(".quiet, .stood, .key, .better, .dt-column-order").forEach((part) => part.remove());
        const label = head.dataset.name ?? name.textContent.trim();
        for (let width = 0; width < head.colSpan; width += 1, at += 1) places[at] = { until: line + head.rowSpan, label };
      }
    });
    for (const body of table.tBodies) {
      const covered = [];  // by column: the first line that no cell from above reaches
      [...body.rows].forEach((row, line) => {
        let at = 0;
        for (const cell of row.cells) {
          while (covered[at] > line) at += 1;
          if (cell.tagName === "TD") cell.dataset.label ??= places[at]?.label ?? "";
          for (let width = 0; width < cell.colSpan; width += 1, at += 1) covered[at] = line + cell.rowSpan;
        }
      });
    }
    table.classList.add("cards");
  }

  // When the pointer or the keyboard goes elsewhere.
  function onLeaving(box, then) {
    for (const leaving of ["pointerdown", "focusin"]) {
      document.addEventListener(leaving, ({ target }) => { if (!box.contains(target)) then(); });
    }
  }

  // A small menu over the page: closed by Escape and by going elsewhere.
  function folding(title, ...content) {
    const summary = make("summary", {}, title);
    const menu = make("details", {}, summary, make("div", {}, ...content));
    onLeaving(menu, () => { menu.open = false; });
    menu.addEventListener("keydown", ({ key }) => { if (key === "Escape") { menu.open = false; summary.focus(); } });
    return menu;
  }

  const words = (cell) => ((cell.matches(".verdict") ? cell : cell.querySelector(".verdict"))?.lastChild ?? cell).textContent.trim();

  function addCopying(pre) {
    const status = make("span", { role: "status", class: "unseen" });
    const copy = async () => {
      try {
        await navigator.clipboard.writeText(pre.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(pre);
        button.textContent = "Selected";
      }
      status.textContent = button.textContent;
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    };
    const button = make("button", { type: "button", class: "copier", onclick: copy }, "Copy");
    const box = make("div", { class: "copybox" });
    pre.replaceWith(box);
    box.append(pre, button, status);
  }

  // Two methods on one task, seed by seed: the mean difference and its interval. Which differences are significant is not
  // computed here, but read from the page.
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
    const rows = data.rows.map(({ label }) => label);
    const reference = Number(picker.dataset.reference);
    const left = choose("Method", "a", rows, reference === 0 ? Math.min(1, rows.length - 1) : 0);
    const right = choose("minus", "b", rows, reference);
    const task = choose("on", "task", data.tasks.map(({ title, id, metric }) => `${title} (${id}, ${metric})`), 0);
    picker.append(output);

    function show() {
      const [scale, digits, name] = data.tasks[task.value].unit === "percent" ? [100, 1, " points"] : [1, 3, ""];
      const value = (number, sign = false) => {
        const text = (number * scale).toFixed(digits);
        return Number(text) === 0 ? text.replace("-", "") : (sign && number > 0 ? "+" : "") + text.replace("-", "−");
      };
      const pair = [Number(left.value), Number(right.value)];
      const [a, b] = pair.map((row) => data.rows[row]);
      const apart = data.unpairable.find(([first, second]) => pair.includes(first) && pair.includes(second) && first !== second)?.[2] ?? [];
      const shared = data.seeds.map((seed, at) => [seed, a.values[task.value][at], b.values[task.value][at]])
        .filter(([seed, ours, theirs]) => ours !== null && theirs !== null && !apart.includes(seed));
      const differences = shared.map(([, ours, theirs]) => ours - theirs);
      const n = differences.length;
      const sum = (values) => values.reduce((total, value) => total + value, 0);
      const mean = sum(differences) / n;
      const sd = Math.sqrt(sum(differences.map((difference) => (difference - mean) ** 2)) / (n - 1));
      const half = n > 1 ? ` ± ${value(data.quantiles[n] * sd / Math.sqrt(n))}` : "";
      const significant = data.decided[task.value].find((found) => pair.every((row) => found.includes(row)));
      const interest = data.interest[task.value], reach = data.quantiles[n] * sd / Math.sqrt(n);
      const verdict = significant ? (significant[0] === pair[0] ? "better" : "worse")
        : n > 2 && sd > 1e-12 && interest && mean - reach >= -interest && mean + reach <= interest ? "equivalent" : "undecided";
      const judged = n && data.ranks[task.value] && pair[0] !== pair[1];
      const answer = judged ? [make("strong", {}, `${a.label} against ${b.label}: ${verdict}.`), " "] : [];
      const result = n ? `Mean difference ${value(mean, true)}${half}${name} over ${n} ${n === 1 ? "seed" : "seeds"}.` : "No seed can be paired.";
      const skipped = apart.length ? ` Skipped seeds, which did not have the same weights or batches: ${apart.join(", ")}.` : "";
      const lines = shared.map(([seed, ours, theirs], at) => make("tr", {}, make("th", { scope: "row" }, String(seed)),
        ...[value(ours), value(theirs), value(differences[at], true)].map((text) => make("td", {}, text))));
      output.replaceChildren(make("p", {}, ...answer, result + skipped), make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Seed by seed" },
        make("table", {}, make("caption", { class: "unseen" }, "Seed by seed"),
          make("thead", {}, make("tr", {}, ...["Seed", a.label, b.label, "Difference"].map((text) => make("th", { scope: "col" }, text)))),
          make("tbody", {}, ...lines))));
    }
    show();
    picker.hidden = false;
  }

  // The place that the address names, if there is one.
  function place() {
    try {
      return document.getElementById(decodeURIComponent(location.hash.slice(1)));
    } catch {
      return null;
    }
  }

  // Light, dark, or as the system has it: kept where the browser allows it, for this site alone.
  function themes(nav) {
    const kinds = { "": "as the system has it", light: "light", dark: "dark" };
    const kept = () => { try { return localStorage.getItem("theme") ?? ""; } catch { return ""; } };
    const button = make("button", { type: "button", class: "theme" }, "◐");
    const show = (kind) => {
      if (kind) document.documentElement.dataset.theme = kind; else delete document.documentElement.dataset.theme;
      button.title = `Theme: ${kinds[kind]}`;
      button.setAttribute("aria-label", button.title);
    };
    button.addEventListener("click", () => {
      const names = Object.keys(kinds);
      const next = names[(names.indexOf(document.documentElement.dataset.theme ?? "") + 1) % names.length];
      try { localStorage.setItem("theme", next); } catch { /* shown, and not kept */ }
      show(next);
    });
    show(Object.hasOwn(kinds, kept()) ? kept() : "");
    nav.append(button);
  }

  // Pages with all the words that are typed: first those called so, then those that have them in their title. The list of
  // all pages' words is loaded once somebody begins.
  function searching(nav) {
    const most = 12;
    const list = make("ul", { "aria-label": "Pages found", hidden: true });
    const status = make("span", { role: "status", class: "unseen" });
    const input = make("input", { type: "search", "aria-label": "Search all pages", placeholder: "Search", autocomplete: "off" });
    const box = make("div", { class: "search", role: "search" }, input, status, list);
    const hide = () => { list.hidden = true; list.replaceChildren(); status.textContent = ""; };
    const show = (said, ...lines) => { list.hidden = false; list.replaceChildren(...lines); status.textContent = said; };
    const line = (...content) => make("li", {}, ...content);
    const look = () => {
      const wanted = wordsOf(input.value);
      if (!wanted.length || typeof PAGES === "undefined") { hide(); return; }
      const all = (within) => wanted.every((word) => within.includes(word));
      const pages = PAGES.map(([name, title, words]) => {
        const own = title.toLowerCase(), whole = own.split(/[\s,:()]+/).filter(Boolean);
        return { name, title, length: whole.length, called: all(whole), titled: all(own), found: all(`${own} ${name} ${words}`) };
      });
      const found = pages.filter((page) => page.found)
        .sort((a, b) => b.called - a.called || (a.called ? a.length - b.length : b.titled - a.titled));
      const links = found.slice(0, most).map(({ name, title }) => line(make("a", { href: new URL(`../${name}.html`, script).href }, title)));
      const more = found.length - links.length;
      if (more) links.push(line(`${more} more ${more === 1 ? "page has" : "pages have"} these words.`));
      show(found.length === 1 ? "1 page" : `${found.length} pages`, ...(links.length ? links : [line("No page has all these words.")]));
    };
    const begin = () => {
      const failed = () => show("failed", line("The list of pages could not be loaded."));
      const words = make("script", { src: new URL("pages.js", script).href, onerror: failed });
      words.addEventListener("load", () => { if (box.contains(document.activeElement)) look(); });
      document.head.append(words);
    };
    input.addEventListener("focus", begin, { once: true });
    for (const kind of ["focus", "input"]) input.addEventListener(kind, look);
    box.addEventListener("keydown", (event) => {
      if (event.isComposing) return;
      const { key, target } = event, links = [input, ...list.querySelectorAll("a")];
      const next = links[links.indexOf(target) + ({ ArrowDown: 1, ArrowUp: -1 }[key] ?? 0)];
      if (next && next !== target) { next.focus(); event.preventDefault(); }
      if (key === "Escape") { input.value = ""; input.focus(); hide(); }
      if (key === "Enter" && target === input) links[1]?.click();
    });
    onLeaving(box, hide);
    nav.append(box);
  }

  // A place inside of something folded is unfolded when the address leads there; what a table needs is, on paper.
  function unfold() {
    for (let node = place(); node; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
  }
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details.printed:not([open])")];
    for (const details of opened) details.open = true;
  });
  addEventListener("afterprint", () => { for (const details of opened) details.open = false; });

  searching(document.querySelector("header.site nav"));
  themes(document.querySelector("header.site nav"));
  document.querySelectorAll("table.data").forEach(addLabels);
  document.querySelectorAll(".tools[data-for]").forEach(enhance);
  document.querySelectorAll("pre.copy").forEach(addCopying);
  document.querySelectorAll(".picker").forEach(compare);
  addEventListener("hashchange", unfold);
  unfold();
})();
