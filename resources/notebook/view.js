// A view of a filter in a notebook: controls, linked panes and the ladder. Python holds the state in traits of the
// model; this file draws them and sends what a person changes. It needs no other file and no network.

const QUIET = 60; // milliseconds between two values of a control that moves, and before a closer look is asked for
const STEP = 1.3; // how much closer one step of the wheel or of a key goes
const DEEPEST = 1e-4; // the smallest share of a picture that a pane shows

/** The part [x0, y0, x1, y1] of a picture, scaled about a point of it; all are shares from 0 to 1. */
export function zoomed([x0, y0, x1, y1], factor, x, y) {
  const span = (a, b, at) => {
    const size = Math.min(Math.max((b - a) / factor, DEEPEST), 1);
    const start = Math.min(Math.max(at - ((at - a) * size) / (b - a), 0), 1 - size);
    return [start, start + size];
  };
  const [a, b] = span(x0, x1, x);
  const [c, d] = span(y0, y1, y);
  return [a, c, b, d];
}

/** The part moved by shares of the picture, as far as its edges allow. */
export function moved([x0, y0, x1, y1], dx, dy) {
  const x = Math.min(Math.max(dx, -x0), 1 - x1);
  const y = Math.min(Math.max(dy, -y0), 1 - y1);
  return [x0 + x, y0 + y, x1 + x, y1 + y];
}

/** Where a picture at `place` [x, y, width, height] of the whole one lies in a pane that shows the part `look`. */
export function placed([x, y, w, h], [x0, y0, x1, y1], width, height) {
  const across = width / (x1 - x0);
  const down = height / (y1 - y0);
  return [(x - x0) * across, (y - y0) * down, w * across, h * down];
}

/** Calls `send` with the newest value only: at once, and then at most every `QUIET` milliseconds. */
export function newest(send, quiet = QUIET) {
  let timer = null;
  let waiting = null;
  const next = () => {
    timer = null;
    if (waiting) {
      const [value] = waiting;
      waiting = null;
      timer = setTimeout(next, quiet);
      send(value);
    }
  };
  return (value) => {
    waiting = [value];
    if (timer === null) next();
  };
}

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.dataset.lmSuppressShortcuts = "true"; // JupyterLab asks the element with the focus whether keys are its own
  made.append(...children);
  return made;
}

// ---------------------------------------------------------------- controls

function field(control, change) {
  const sends = control.kind === "text" || control.kind === "numbers" || control.kind === "number" ? "change" : "input";
  let input;
  if (control.kind === "list") {
    input = element("select", {}, ...control.choices.map((c) => element("option", { value: c.text, textContent: c.text })));
  } else {
    const types = { slider: "range", number: "number", check: "checkbox" };
    input = element("input", { type: types[control.kind] ?? "text" });
    if ("low" in control) Object.assign(input, { min: control.low, max: control.high });
    if ("step" in control) input.step = control.step;
  }
  const shown = element("output");
  const read = () => {
    if (control.kind === "check") return input.checked;
    if (control.kind === "list") return control.choices[input.selectedIndex]?.value;
    return control.kind === "slider" || control.kind === "number" ? Number(input.value) : input.value;
  };
  const show = (value) => {
    if (control.kind === "check") input.checked = value;
    else if (control.kind === "list") input.selectedIndex = control.choices.findIndex((c) => c.value === value);
    else if (document.activeElement !== input || control.kind === "slider") input.value = value;
    shown.textContent = `${value} ${control.unit}`.trim().replace("-", "−");
  };
  input.addEventListener(sends, () => {
    if (control.kind === "slider") shown.textContent = `${input.value} ${control.unit}`.trim().replace("-", "−");
    change(control.name, read());
  });
  const label = element("label", { title: control.help }, control.name.replaceAll("_", " "), input);
  if (control.kind === "slider") label.append(shown);
  else if (control.unit) label.append(control.unit);
  const enable = (on) => {
    input.disabled = !on;
    label.toggleAttribute("data-off", !on);
  };
  return { label, show, enable };
}

function parameters(model, signal) {
  const send = newest((values) => {
    model.set("wanted", values);
    model.save_changes();
  });
  const values = () => ({ ...model.get("wanted") });
  let present = values();
  const fields = model.get("controls").map((control) => [
    control.name,
    field(control, (name, value) => {
      present = { ...present, [name]: value };
      send(present);
    }),
  ]);
  const refresh = () => {
    present = values();
    for (const [name, one] of fields) {
      one.show(present[name]);
      one.enable(!model.get("closed") && model.get("active").includes(name));
    }
  };
  listen(model, ["wanted", "active", "closed"], refresh, signal);
  refresh();
  return element("div", { className: "controls" }, ...fields.map(([, one]) => one.label));
}

function variants(model, signal) {
  const boxes = model.get("choices").map((choice) => {
    const box = element("input", { type: "checkbox" });
    box.addEventListener("change", () => {
      const on = new Set(model.get("shown"));
      box.checked ? on.add(choice.value) : on.delete(choice.value);
      model.set("shown", model.get("choices").map((c) => c.value).filter((id) => on.has(id)));
      model.save_changes();
    });
    return [choice.value, box, element("label", { title: choice.help }, box, choice.text)];
  });
  const refresh = () => {
    for (const [id, box] of boxes) {
      box.checked = model.get("shown").includes(id);
      box.disabled = model.get("closed");
    }
  };
  listen(model, ["shown", "closed"], refresh, signal);
  refresh();
  const list = element("div", { className: "controls" }, ...boxes.map(([, , label]) => label));
  return element("details", {}, element("summary", { textContent: "Variants" }), list);
}

function comparing(model, signal) {
  const sides = [element("select", { title: "What is compared" }), element("select", { title: "What it is compared with" })];
  const fill = () => {
    const keys = model.get("panes").filter((p) => p.key !== "difference").map((p) => [p.key, p.title]);
    sides.forEach((side, k) => {
      const options = [["", "none"], ...keys];
      side.replaceChildren(...options.map(([value, textContent]) => element("option", { value, textContent })));
      side.value = model.get("pair")[k] ?? "";
      side.disabled = model.get("closed");
    });
  };
  for (const [k, side] of sides.entries()) {
    side.addEventListener("change", () => {
      const chosen = sides.map((s) => s.value || (side.value && model.get("panes")[k === 0 ? 0 : 1]?.key) || "");
      model.set("compared", side.value ? chosen : ["", ""]);
      model.save_changes();
    });
  }
  listen(model, ["panes", "pair", "closed"], fill, signal);
  fill();
  return element("div", { className: "controls" }, element("span", {}, "Difference of"), sides[0], "and", sides[1]);
}

// ---------------------------------------------------------------- panes

const bitmaps = new WeakMap();

function bitmap(png) {
  if (!bitmaps.has(png)) bitmaps.set(png, createImageBitmap(new Blob([png], { type: "image/png" })));
  return bitmaps.get(png);
}

class Pane {
  constructor(look) {
    this.canvas = element("canvas", { tabIndex: 0 });
    this.title = element("b");
    this.caption = element("span", { className: "caption" });
    this.marks = [0, 1, 2].map(() => element("div", { className: "marks" }));
    this.table = element("table");
    const caption = element("figcaption", {}, this.title, this.caption);
    this.figure = element("figure", {}, this.marks[0], this.canvas, this.marks[1], this.marks[2], this.table, caption);
    this.canvas.setAttribute("role", "img");
    this.look = look;
    this.listen();
  }

  listen() {
    const { canvas, look } = this;
    const at = (event) => {
      const [x0, y0, x1, y1] = look.place;
      const box = canvas.getBoundingClientRect();
      return [x0 + ((event.clientX - box.left) / box.width) * (x1 - x0), y0 + ((event.clientY - box.top) / box.height) * (y1 - y0)];
    };
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      look.go(zoomed(look.place, event.deltaY < 0 ? STEP : 1 / STEP, ...at(event)));
    }, { passive: false });
    canvas.addEventListener("dblclick", () => look.go([0, 0, 1, 1]));
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.held = at(event);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!this.held) return;
      const [x, y] = at(event);
      look.go(moved(look.place, this.held[0] - x, this.held[1] - y));
    });
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, () => (this.held = null));
    canvas.addEventListener("keydown", (event) => {
      const [x0, y0, x1, y1] = look.place;
      const [w, h] = [(x1 - x0) / 8, (y1 - y0) / 8];
      const middle = [(x0 + x1) / 2, (y0 + y1) / 2];
      const keys = {
        "+": () => zoomed(look.place, STEP, ...middle),
        "-": () => zoomed(look.place, 1 / STEP, ...middle),
        0: () => [0, 0, 1, 1],
        ArrowLeft: () => moved(look.place, -w, 0),
        ArrowRight: () => moved(look.place, w, 0),
        ArrowUp: () => moved(look.place, 0, -h),
        ArrowDown: () => moved(look.place, 0, h),
      };
      if (!(event.key in keys)) return;
      event.preventDefault();
      event.stopPropagation(); // the notebook has its own meaning for these keys
      look.go(keys[event.key]());
    });
  }

  show(pane, earlier) {
    this.pane = pane;
    this.title.textContent = pane.title;
    this.caption.textContent = earlier ? `${pane.caption}; of earlier values` : pane.caption;
    this.figure.classList.toggle("earlier", earlier);
    this.canvas.hidden = !pane.png;
    this.canvas.style.display = pane.png ? "" : "none";
    this.canvas.title = "Wheel or + and −: closer and farther; drag or arrows: move; double click or 0: all";
    this.canvas.setAttribute("aria-label", `${pane.title}: ${pane.caption}`);
    const marks = pane.marks ?? [];
    const texts = [marks.slice(0, 1), marks.slice(1, 2), marks.slice(2)];
    this.marks.forEach((line, k) => line.replaceChildren(...texts[k].map((text) => element("span", {}, text))));
    const rows = (pane.table ?? []).map((row) => element("tr", {}, ...row.map((text) => element("td", {}, text))));
    this.table.replaceChildren(...rows);
    return this.draw();
  }

  async draw(detail = this.detail) {
    this.detail = detail;
    const { pane, canvas, look } = this;
    if (!pane?.png) return;
    const layers = [[pane.png, pane.place], ...(detail ? [[detail.png, detail.place]] : [])];
    const images = await Promise.all(layers.map(([png]) => bitmap(png)));
    if (pane !== this.pane || detail !== this.detail) return; // newer pictures have come meanwhile
    const width = Math.round(canvas.clientWidth * devicePixelRatio) || 480;
    const height = Math.max(Math.round(width * Math.min(pane.ratio, 1.5)), 1);
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    const context = canvas.getContext("2d");
    context.clearRect(0, 0, width, height);
    context.imageSmoothingQuality = "high";
    const part = pane.drawn === "curve" ? [look.place[0], 0, look.place[2], 1] : look.place;
    images.forEach((image, k) => {
      const box = placed(layers[k][1], part, width, height);
      context.imageSmoothingEnabled = box[2] < 2 * image.width; // from two pixels on, each is seen as it is
      context.drawImage(image, ...box);
    });
    canvas.dataset.drawn = "yes";
  }
}

function panes(model, signal) {
  const list = element("div", { className: "panes" });
  const known = new Map();
  const tell = newest((place) => {
    const pixels = Math.max(...[...known.values()].map((p) => p.canvas.width), 64);
    model.set("window", { place, pixels });
    model.save_changes();
  });
  const look = {
    place: model.get("window").place,
    go(place) {
      look.place = place;
      for (const pane of known.values()) pane.draw();
      tell(place);
    },
  };
  const refresh = () => {
    const shown = model.get("panes");
    const details = model.get("details");
    for (const key of known.keys()) if (!shown.some((p) => p.key === key)) known.delete(key);
    for (const pane of shown) {
      if (!known.has(pane.key)) known.set(pane.key, new Pane(look));
      const one = known.get(pane.key);
      one.detail = details[pane.key];
      one.show(pane, model.get("earlier").includes(pane.key.split(" ")[0]));
    }
    const figures = shown.map((pane) => known.get(pane.key).figure);
    if (figures.some((figure, k) => figure !== list.children[k]) || figures.length !== list.children.length) {
      list.replaceChildren(...figures);
      for (const pane of known.values()) pane.draw();
    }
  };
  listen(model, ["panes", "details", "earlier"], refresh, signal);
  refresh();
  const sized = new ResizeObserver(() => known.forEach((pane) => pane.draw()));
  sized.observe(list);
  signal.addEventListener("abort", () => sized.disconnect());
  return list;
}

// ---------------------------------------------------------------- ladder

function ladder(model, signal) {
  const table = element("table", { className: "ladder" });
  const line = (row) => {
    const measure = element("td", { className: "measure", title: row.help ?? "" });
    const text = element("div", { className: row.kind === "failed" ? "failed" : "", textContent: row.text });
    measure.append(text);
    if (row.kind === "timed") {
      const bar = element("div", { className: "bar" });
      bar.style.width = `${100 * row.share}%`;
      measure.append(bar);
    }
    for (const note of row.notes ?? []) measure.append(element("div", { className: "note", textContent: note }));
    const wrong = row.verdict.includes("WRONG") ? "failed" : "";
    return element(
      "tr", {},
      element("th", { scope: "row", textContent: row.title }),
      element("td", { textContent: row.device }),
      measure,
      element("td", { className: wrong, textContent: row.verdict }),
    );
  };
  const refresh = () => table.replaceChildren(...model.get("rows").map(line));
  listen(model, ["rows"], refresh, signal);
  refresh();
  return table;
}

function messages(model, signal) {
  const fault = element("div", { className: "fault" });
  const status = element("div", { className: "status" });
  fault.setAttribute("role", "alert");
  status.setAttribute("role", "status");
  const refresh = () => {
    fault.textContent = model.get("fault");
    fault.hidden = !model.get("fault");
    const closed = "This view is closed, and shows its last results; run the cell again to change them.";
    status.textContent = model.get("closed") ? closed : model.get("status");
  };
  listen(model, ["fault", "status", "closed"], refresh, signal);
  refresh();
  return element("div", {}, fault, status);
}

function listen(model, names, call, signal) {
  for (const name of names) {
    model.on(`change:${name}`, call);
    signal.addEventListener("abort", () => model.off(`change:${name}`, call));
  }
}

function render({ model, el }) {
  const end = new AbortController();
  const { signal } = end;
  el.classList.add("kernelscope");
  el.append(
    element("h3", { textContent: model.get("title") }),
    parameters(model, signal),
    variants(model, signal),
    comparing(model, signal),
    messages(model, signal),
    panes(model, signal),
    ladder(model, signal),
  );
  return () => end.abort();
}

export default { render };
