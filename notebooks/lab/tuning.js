// Draws what the kernel computes for the tuning lab, and changes the page in place.
// Every sentence comes from the kernel (the trait "words"), so that a translation needs no change here.

const SVG = "http://www.w3.org/2000/svg";
const CIVIDIS = ["#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838"];
const NAMES_WAIT_FRAMES = 600;

function make(tag, className, parent, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  if (parent) parent.appendChild(element);
  return element;
}

function draw(tag, attributes, parent, text) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  if (parent) parent.appendChild(element);
  return element;
}

// Writing what already stands there would make the browser lay the page out again, and a screen reader repeat it.
function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function fill(template, values) {
  return template.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

function keepShortcutsAway(element) {
  element.setAttribute("data-lm-suppress-shortcuts", "true");
}

function setRows(body, count, addCells) {
  while (body.rows.length < count) addCells(body.insertRow());
  while (body.rows.length > count) body.deleteRow(-1);
}

// ---- the fused ranking

function fusedTable(model, parent) {
  const words = model.get("words");
  const names = model.get("indexes");
  const section = make("section", "lt-fused", parent);
  const scroller = make("div", "lt-scroller", section);
  const table = make("table", "", scroller);
  const caption = make("caption", "", table);
  const heading = make("tr", "", make("thead", "", table));
  const head = (text, className) => {
    const cell = make("th", className, heading, text);
    cell.scope = "col";
    return cell;
  };
  head(words.rank, "lt-number");
  head(words.moved, "lt-move");
  head(words.document, "lt-document");
  names.forEach((name) => head(fill(words.rank_in, { name }), "lt-number"));
  const bars = head("", "lt-bars");
  bars.title = words.contributions;
  names.forEach((name, i) => {
    const key = make("span", "lt-key", bars);
    make("i", `lt-fill lt-fill-${i % 6}`, key);
    key.append(name);
  });
  head(words.score, "lt-number");
  const body = make("tbody", "", table);
  const below = make("p", "lt-note", section);

  function addCells(row) {
    make("td", "lt-number", row);
    make("td", "lt-move", row);
    const name = make("th", "lt-document", row);
    name.scope = "row";
    make("span", "", name);
    names.forEach(() => make("td", "lt-number", row));
    const bar = make("span", "lt-bar", make("td", "lt-bars", row));
    bar.setAttribute("role", "img");
    names.forEach((_, i) => make("i", `lt-fill lt-fill-${i % 6}`, bar));
    make("td", "lt-number", row);
  }

  return function update() {
    const { title, rows, note } = model.get("table");
    const longest = Math.max(...rows.map((row) => row.score), Number.MIN_VALUE);
    write(caption, title);
    setRows(body, rows.length, addCells);
    rows.forEach((row, at) => {
      const line = body.rows[at];
      const cells = [...line.cells];
      line.classList.toggle("lt-relevant", row.relevant);
      write(cells[0], String(row.rank));
      write(cells[1], movement(row.move, words));
      cells[1].classList.toggle("lt-up", row.move > 0);
      cells[1].classList.toggle("lt-down", row.move < 0);
      write(cells[2].firstChild, (row.relevant ? "★ " : "") + row.label);
      cells[2].title = row.relevant ? fill(words.relevant, { label: row.label }) : row.label;
      row.ranks.forEach((rank, i) => write(cells[3 + i], rank === null ? "–" : String(rank)));
      const bar = cells[3 + names.length].firstChild;
      const shares = row.contributions.map((share, i) => `${names[i]} ${share.toFixed(4)}`).join(", ");
      if (bar.getAttribute("aria-label") !== shares) {
        bar.setAttribute("aria-label", shares);
        bar.title = shares;
        row.contributions.forEach((share, i) => {
          bar.children[i].style.width = `${(100 * share) / longest}%`;
        });
      }
      write(cells[4 + names.length], row.score.toFixed(4));
    });
    write(below, note);
    below.hidden = !note;
  };
}

function movement(move, words) {
  if (move === null) return words.new;
  if (move === 0) return "=";
  return move > 0 ? `▲ ${move}` : `▼ ${-move}`;
}

// ---- the metric over k_rrf and candidates

function heatMaps(model, parent, send) {
  const words = model.get("words");
  const section = make("section", "lt-maps", parent);
  const title = make("h4", "", section);
  const key = make("p", "lt-note", section);
  make("span", "lt-ring", key);
  key.append(` ${words.current}   ★ ${words.best}`);
  const figures = make("div", "lt-figures", section);
  let panels = [];

  function rebuild() {
    const maps = model.get("maps");
    write(title, maps.title ?? "");
    figures.replaceChildren();
    const [all, ...kinds] = maps.panels ?? [];
    if (!all) return;
    panels = [heatMap(maps, all, true, figures, words, send)];
    const small = make("div", "lt-kinds", figures);
    panels.push(...kinds.map((panel) => heatMap(maps, panel, false, small, words, send)));
    move();
  }

  function move() {
    panels.forEach((panel) => panel.move(model.get("point")));
  }

  return { rebuild, move };
}

function heatMap(maps, panel, large, parent, words, send) {
  const { k_rrfs, candidates } = maps;
  const figure = make("figure", large ? "lt-large" : "lt-small", parent);
  const caption = make("figcaption", "", figure);
  make("strong", "", caption, panel.name);
  const reading = make("span", "lt-reading", caption);
  const width = (large ? 280 : 116) / candidates.length;
  const height = (large ? 240 : 100) / k_rrfs.length;
  const apart = large ? [22, 14] : [18, 12];  // labels nearer than this would touch
  const left = large ? 46 : 30;
  const top = 4;
  const across = left + width * candidates.length;
  const down = top + height * k_rrfs.length;
  const svg = draw("svg", { role: "img", width: across + 8, height: down + (large ? 34 : 20) }, figure);
  const middleOf = (i) => down - (i + 0.5) * height;  // k_rrf rises upwards
  const cells = draw("g", { class: "lt-cells" }, svg);
  panel.values.forEach((row, i) =>
    row.forEach((value, j) => {
      const cell = draw("rect", {
        x: left + j * width, y: down - (i + 1) * height, width: width + 0.3, height: height + 0.3,
        fill: colour(value, panel.low, panel.high),
      }, cells);
      draw("title", {}, cell, `k_rrf = ${k_rrfs[i]}, candidates = ${candidates[j]}: ${value.toFixed(3)}`);
      cell.addEventListener("click", () => send({ point: [i, j] }));
    }));
  const acrossOf = (j) => left + (j + 0.5) * width;
  const below = (j) => draw("text", { x: acrossOf(j), y: down + 13, "text-anchor": "middle" }, svg, candidates[j]);
  const beside = (i) => draw("text", { x: left - 5, y: middleOf(i) + 4, "text-anchor": "end" }, svg, k_rrfs[i]);
  const ticks = [
    ...someOf(candidates, large ? 7 : 4).map((j) => ({ j, label: below(j) })),
    ...someOf(k_rrfs, large ? 8 : 4).map((i) => ({ i, label: beside(i) })),
  ];
  const [nowBelow, nowBeside] = [below(0), beside(0)];
  [nowBelow, nowBeside].forEach((label) => label.classList.add("lt-now"));

  // The current values always have their labels; those that would touch them step back.
  function label(i, j) {
    nowBelow.setAttribute("x", acrossOf(j));
    nowBeside.setAttribute("y", middleOf(i) + 4);
    write(nowBelow, candidates[j]);
    write(nowBeside, k_rrfs[i]);
    for (const tick of ticks) {
      const touches = tick.i === undefined
        ? Math.abs(acrossOf(tick.j) - acrossOf(j)) < apart[0]
        : Math.abs(middleOf(tick.i) - middleOf(i)) < apart[1];
      tick.label.classList.toggle("lt-hidden", touches);
    }
  }

  if (large) {
    draw("text", { x: (left + across) / 2, y: down + 29, "text-anchor": "middle" }, svg, "candidates");
    const middle = (top + down) / 2;
    draw("text", { x: 11, y: middle, "text-anchor": "middle", transform: `rotate(-90 11 ${middle})` }, svg, "k_rrf");
  }
  const [bestRow, bestColumn] = panel.best;
  draw("text", {
    class: "lt-best", x: acrossOf(bestColumn), y: middleOf(bestRow) + (large ? 5 : 4), "text-anchor": "middle",
  }, svg, "★");
  const marker = draw("g", { class: "lt-marker" }, svg);
  for (const className of ["lt-marker-outer", "lt-marker-inner"])
    draw("circle", { class: className, r: large ? 8 : 6 }, marker);
  scale(panel, figure);

  return {
    move([i, j]) {
      marker.setAttribute("transform", `translate(${acrossOf(j)},${middleOf(i)})`);
      const value = panel.values[i]?.[j];
      if (value === undefined) return;
      label(i, j);
      const said = {
        name: panel.name, metric: maps.metric, value: value.toFixed(3), best: panel.values[bestRow][bestColumn].toFixed(3),
        k_rrf: k_rrfs[bestRow], candidates: candidates[bestColumn],
      };
      write(reading, fill(words.reading, said));
      svg.setAttribute("aria-label", fill(words.map_alt, said));
    },
  };
}

function scale(panel, parent) {
  const bar = make("div", "lt-scale", parent);
  make("span", "", bar, panel.low.toFixed(3));
  make("i", "", bar).style.background = `linear-gradient(90deg, ${CIVIDIS.join(", ")})`;
  make("span", "", bar, panel.high.toFixed(3));
}

function colour(value, low, high) {
  const share = high > low ? Math.min(Math.max((value - low) / (high - low), 0), 1) : 0.5;
  const place = share * (CIVIDIS.length - 1);
  const at = Math.min(Math.floor(place), CIVIDIS.length - 2);
  const part = (hex, byte) => parseInt(hex.slice(1 + 2 * byte, 3 + 2 * byte), 16);
  const mixed = [0, 1, 2].map((byte) =>
    Math.round(part(CIVIDIS[at], byte) + (place - at) * (part(CIVIDIS[at + 1], byte) - part(CIVIDIS[at], byte))));
  return `rgb(${mixed.join(",")})`;
}

// Positions of at most `count` values, the first and the last among them.
function someOf(values, count) {
  if (values.length <= count) return values.map((_, at) => at);
  const chosen = [...Array(count).keys()].map((n) => Math.round((n * (values.length - 1)) / (count - 1)));
  return [...new Set(chosen)];
}

// ---- each index alone against the hybrid

function comparisonTable(model, parent) {
  const words = model.get("words");
  const section = make("section", "lt-comparison", parent);
  const scroller = make("div", "lt-scroller", section);
  const table = make("table", "", scroller);
  const caption = make("caption", "", table);
  const heading = make("tr", "", make("thead", "", table));
  const headings = [words.queries, words.search, "", words.interval, ""].map((text) => {
    const cell = make("th", "", heading, text);
    cell.scope = "col";
    return cell;
  });
  headings[2].className = "lt-number";
  headings[4].className = "lt-whiskers";
  headings[4].setAttribute("aria-hidden", "true");
  make("span", "", headings[4], "0");
  make("span", "", headings[4], "1");
  const body = make("tbody", "", table);
  const below = make("p", "lt-note", section);

  function addCells(row) {
    make("th", "", row).scope = "row";
    make("td", "", row);
    make("td", "lt-number", row);
    make("td", "", row);
    const track = make("span", "lt-track", make("td", "lt-whiskers", row));
    track.setAttribute("aria-hidden", "true");
    make("i", "lt-whisker", track);
    make("b", "lt-dot", track);
  }

  return function update() {
    const { title, metric, rows, note } = model.get("comparison");
    write(caption, title);
    write(headings[2], metric);
    write(below, note);
    setRows(body, rows.length, addCells);
    rows.forEach((row, at) => {
      const cells = body.rows[at].cells;
      body.rows[at].className = `lt-search-${row.place}${row.group ? " lt-group" : ""}${row.leads ? " lt-leads" : ""}`;
      write(cells[0], row.group);
      write(cells[1], row.name);
      write(cells[2], (row.leads ? "★ " : "") + row.value.toFixed(3));
      write(cells[3], `${row.low.toFixed(3)} – ${row.high.toFixed(3)}`);
      const [whisker, dot] = cells[4].firstChild.children;
      whisker.style.left = `${100 * row.low}%`;
      whisker.style.width = `${100 * (row.high - row.low)}%`;
      dot.style.left = `${100 * row.value}%`;
    });
  };
}

function lossList(model, parent, send) {
  const section = make("section", "lt-losses", parent);
  const title = make("h4", "", section);
  const list = make("ul", "", section);
  const more = make("button", "lt-more", section);
  more.type = "button";
  keepShortcutsAway(more);
  more.addEventListener("click", () => send({ losses: model.get("losses").open ? "few" : "all" }));

  function addItem() {
    const item = make("li", "", list);
    const button = make("button", "", item);
    button.type = "button";
    keepShortcutsAway(button);
    button.addEventListener("click", () => send({ query: button.dataset.query }));
    make("span", "", item);
  }

  return function update() {
    const losses = model.get("losses");
    write(title, losses.title);
    write(more, losses.more);
    more.hidden = !losses.more;
    more.setAttribute("aria-expanded", String(losses.open));
    while (list.children.length < losses.rows.length) addItem();
    while (list.children.length > losses.rows.length) list.lastChild.remove();
    losses.rows.forEach((row, at) => {
      const [button, values] = list.children[at].children;
      button.dataset.query = row.id;
      write(button, row.text);
      write(values, ` ${row.values}`);
    });
  };
}

// ---- what is said in words

function spoken(model, parent) {
  const status = make("p", "lt-status", parent);
  status.setAttribute("role", "status");
  const problem = make("p", "lt-problem", parent);
  problem.setAttribute("role", "alert");
  const work = make("label", "lt-work", parent);
  const workText = make("span", "", work);
  const bar = make("progress", "", work);

  return {
    status: () => write(status, model.get("status")),
    problem() {
      write(problem, model.get("problem"));
      problem.hidden = !model.get("problem");
    },
    work() {
      const { text, done, total } = model.get("work");
      work.hidden = !text;
      write(workText, text ?? "");
      bar.max = total || 1;
      bar.value = done || 0;
    },
  };
}

function shownCall(model, parent) {
  const section = make("section", "lt-call", parent);
  const title = make("h4", "", section, model.get("words").call);
  const code = make("pre", "", section);
  code.tabIndex = 0;
  code.setAttribute("aria-label", title.textContent);
  keepShortcutsAway(code);
  return () => {
    write(code, model.get("call"));
    section.hidden = !model.get("call");
  };
}

// ---- the controls around the view, which ipywidgets draws

function tendControls(root) {
  root.querySelectorAll("[tabindex], select, button, input, [contenteditable]").forEach((element) => {
    if (!element.hasAttribute("data-lm-suppress-shortcuts")) keepShortcutsAway(element);
  });
  root.querySelectorAll(".widget-slider").forEach((slider) => {
    const label = slider.querySelector(".widget-label")?.textContent;
    const handle = slider.querySelector("[role=slider]");
    const readout = slider.querySelector(".widget-readout");
    if (!label || !handle) return;
    const set = (element, name, value) => element.getAttribute(name) !== value && element.setAttribute(name, value);
    set(handle, "aria-label", label);
    if (!readout) return;
    set(handle, "aria-valuetext", readout.textContent);
    if (slider.classList.contains("lab-tuning-steps")) {
      // ipywidgets lets one type here, and shows what was typed, though such a slider never takes it.
      set(readout, "contenteditable", "false");
    } else if (readout.isContentEditable) {
      set(readout, "role", "textbox");
      set(readout, "aria-label", label);
    }
  });
}

// The controls are drawn after the view or before it, and again whenever the cell comes back into the page.
function watchControls(el) {
  let observer;
  let frames = 0;
  let frame = requestAnimationFrame(function find() {
    const root = el.closest(".lab-tuning");
    if (!root) {
      if (++frames < NAMES_WAIT_FRAMES) frame = requestAnimationFrame(find);
      return;
    }
    tendControls(root);
    observer = new MutationObserver(() => tendControls(root));
    observer.observe(root, {
      childList: true, subtree: true, characterData: true, attributes: true, attributeFilter: ["aria-valuetext", "tabindex", "contenteditable"],
    });
  });
  return () => {
    cancelAnimationFrame(frame);
    observer?.disconnect();
  };
}

// The picture for readers without a kernel is an output of its own, before this one.
function hideFallback(el) {
  let hidden = [];
  let frames = 0;
  let frame = requestAnimationFrame(function find() {
    const area = el.closest(".jp-OutputArea");
    if (!area) {
      if (++frames < NAMES_WAIT_FRAMES) frame = requestAnimationFrame(find);
      return;
    }
    hidden = [...area.querySelectorAll(".lab-tuning-fallback")]
      .map((fallback) => fallback.closest(".jp-OutputArea-child"))
      .filter(Boolean);
    hidden.forEach((output) => (output.style.display = "none"));
  });
  return () => {
    cancelAnimationFrame(frame);
    hidden.forEach((output) => (output.style.display = ""));
  };
}

function render({ model, el }) {
  el.classList.add("lab-tuning-view");
  const send = (content) => model.send(content);
  const say = spoken(model, el);
  const call = shownCall(model, el);
  const grid = make("div", "lt-grid", el);
  const table = fusedTable(model, grid);
  const maps = heatMaps(model, grid, send);
  const comparison = comparisonTable(model, grid);
  const losses = lossList(model, grid, send);
  const stale = () => el.classList.toggle("lt-stale", model.get("stale"));

  const updates = {
    table, comparison, losses, call, stale,
    status: say.status, problem: say.problem, work: say.work,
    maps: maps.rebuild, point: maps.move,
  };
  for (const [name, update] of Object.entries(updates)) {
    model.on(`change:${name}`, update);
    update();
  }
  const release = [watchControls(el), hideFallback(el)];
  return () => {
    for (const [name, update] of Object.entries(updates)) model.off(`change:${name}`, update);
    release.forEach((free) => free());
  };
}

export default { render };
