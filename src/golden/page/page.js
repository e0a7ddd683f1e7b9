"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const $ = (selector, from = document) => from.querySelector(selector);
  const $$ = (selector, from = document) => [...from.querySelectorAll(selector)];
  const items = $$(".item");
  const articles = new Map($$("article").map((article) => [article.id, article]));
  const viewer = $(".viewer");
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  if (items.length === 0) return;

  // What is shown, and how. It stays when another image is chosen.
  const state = { id: null, view: "slider", by: "difference-10", zoom: 0, divide: 0.5, swapped: false };
  let images = new Map();
  let pixels = new Map();
  let blinking = 0;

  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "text") element.textContent = value;
      else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  };

  // The views, each with the images that it needs.
  const VIEWS = [
    ["slider", "Slider", ["reference", "render"]],
    ["side", "Side by side", ["reference", "render"]],
    ["blink", "Blink", ["reference", "render"]],
    ["reference", "Reference", ["reference"]],
    ["render", "Render", ["render"]],
    ["difference", "Difference", ["difference-1"]],
    ["flip", "FLIP", ["flip"]],
    ["significance", "Significance", ["significance"]],
  ];
  const AMPLIFICATIONS = [
    ["difference-1", "×1"],
    ["difference-10", "×10"],
    ["difference-100", "×100"],
    ["bits", "Bits"],
  ];
  const LABELS = {
    reference: "Reference", render: "Render", "difference-1": "Difference", "difference-10": "Difference × 10",
    "difference-100": "Difference × 100", bits: "White where bits differ", flip: "FLIP error, in false colors",
    significance: "Significant differences of the means: warm where the render is brighter, cold where it is darker",
  };
  const FACTORS = [0.125, 0.25, 0.5, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32];

  const button = (text, label, action) => make("button", { type: "button", text, "aria-label": label, title: label, onclick: action });
  const viewButtons = new Map(VIEWS.map(([view, text], i) => [view, button(text, `${text} (key ${i + 1})`, () => show({ view }))]));
  const byButtons = new Map(AMPLIFICATIONS.map(([by, text]) => [by, button(text, `${LABELS[by]} (key D: next)`, () => show({ by }))]));
  const byGroup = make("span", { class: "group", role: "group", "aria-label": "Amplification of the difference" }, ...byButtons.values());
  const zoomText = button("Fit", "Fit the image into the window (key 0)", () => show({ zoom: 0 }));
  const panes = make("div", { class: "panes" });
  const range = make("input", {
    type: "range", min: "0", max: "100", step: "0.5", value: "50", id: "divide",
    "aria-label": "Divider between the reference (left) and the render (right)",
    oninput: () => divide(range.value / 100),
  });
  const divideRow = make("label", { class: "divide" }, "Reference", range, "Render");
  const readout = make("output", { class: "readout" });
  viewer.append(
    make("div", { class: "tools", role: "toolbar", "aria-label": "View" },
      make("span", { class: "group", role: "group", "aria-label": "What is shown" }, ...viewButtons.values()),
      byGroup,
      make("span", { class: "group", role: "group", "aria-label": "Zoom" },
        button("−", "Smaller (key −)", () => step(-1)), zoomText, button("+", "Larger (key +)", () => step(1)))),
    panes, divideRow, readout);

  // Width and height of an image, decoded or not.
  const size = (kind) => ["width", "height"].map((side) => Number(images.get(kind).getAttribute(side)));

  // The pixels of an image, for the readout; undefined while it is not decoded.
  const read = (kind) => {
    const image = images.get(kind);
    if (!pixels.has(kind) && image?.complete && image.naturalWidth > 0) {
      const canvas = make("canvas");
      [canvas.width, canvas.height] = size(kind);
      const context = canvas.getContext("2d", { willReadFrequently: true });
      context.drawImage(image, 0, 0);
      pixels.set(kind, context.getImageData(0, 0, canvas.width, canvas.height));
    }
    return pixels.get(kind);
  };

  const point = (event, kind) => {
    const sheet = event.currentTarget;
    const box = sheet.getBoundingClientRect();
    const [width, height] = size(kind);
    const x = Math.floor((event.clientX - box.left) / box.width * width);
    const y = Math.floor((event.clientY - box.top) / box.height * height);
    if (x < 0 || y < 0 || x >= width || y >= height) return;
    const scale = Number(images.get(kind).dataset.scale);
    readout.replaceChildren(`x ${x * scale}, y ${y * scale}`);
    for (const kind of ["reference", "render"]) {
      const data = read(kind);
      if (!data || x >= data.width || y >= data.height) continue;
      const rgb = data.data.slice((y * data.width + x) * 4, (y * data.width + x) * 4 + 3);
      const swatch = make("span", { class: "swatch" });
      swatch.style.background = `rgb(${rgb.join(" ")})`;
      readout.append(swatch, `${kind} ${[...rgb].join(" ")}`);
    }
    readout.append(scale > 1 ? ` (sRGB, means of ${scale} × ${scale} pixels)` : " (sRGB)");
  };

  const copyOf = (kind) => make("img", { src: images.get(kind).src, alt: images.get(kind).alt, draggable: "false", "data-shown": kind });

  // A pane with images over each other, the first one below.
  const pane = (...kinds) => {
    const sheet = make("div", { class: "sheet", onpointermove: (event) => point(event, kinds[0]) }, ...kinds.map(copyOf));
    const stage = make("div", { class: "stage", tabindex: "0", role: "group", "aria-label": kinds.map((kind) => LABELS[kind]).join(" and ") }, sheet);
    stage.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      step(event.deltaY < 0 ? 1 : -1);
    }, { passive: false });
    stage.addEventListener("scroll", () => {
      for (const other of $$(".stage", panes)) {
        if (other !== stage) [other.scrollLeft, other.scrollTop] = [stage.scrollLeft, stage.scrollTop];
      }
    });
    const label = make("p", { class: "label", text: kinds.length > 1 ? "" : LABELS[kinds[0]] });
    panes.append(make("div", { class: "pane" }, label, stage));
    return { sheet, stage, label, kinds };
  };

  // Dragging in a stage that scrolls moves what it shows.
  const pan = ({ sheet, stage }) => {
    let from = null;
    sheet.addEventListener("pointerdown", (event) => {
      from = [event.clientX + stage.scrollLeft, event.clientY + stage.scrollTop];
      sheet.setPointerCapture(event.pointerId);
    });
    sheet.addEventListener("pointermove", (event) => {
      if (from) [stage.scrollLeft, stage.scrollTop] = [from[0] - event.clientX, from[1] - event.clientY];
    });
    for (const end of ["pointerup", "pointercancel"]) sheet.addEventListener(end, () => { from = null; });
  };

  const factorOf = ({ stage, kinds }) => {
    if (state.zoom > 0) return state.zoom;
    const [width, height] = size(kinds[0]);
    const most = Math.min((stage.clientWidth - 2) / width, (stage.clientHeight - 2) / height);
    return most >= 1 ? Math.floor(most) : Math.max(most, 0.01);
  };

  let shownPanes = [];
  const layOut = () => {
    for (const one of shownPanes) {
      const [width, height] = size(one.kinds[0]);
      const factor = factorOf(one);
      one.sheet.style.width = `${width * factor}px`;
      one.sheet.style.height = `${height * factor}px`;
      one.sheet.classList.toggle("sharp", factor >= 1);
    }
    const factor = shownPanes.length ? factorOf(shownPanes[0]) : 1;
    const text = factor >= 1 ? `${factor}×` : `${Math.round(factor * 100)} %`;
    zoomText.textContent = state.zoom > 0 ? text : `Fit (${text})`;
  };

  const step = (by) => {
    if (!shownPanes.length) return;
    const now = factorOf(shownPanes[0]);
    const next = by > 0 ? FACTORS.find((factor) => factor > now * 1.001) : FACTORS.findLast((factor) => factor < now * 0.999);
    if (next) show({ zoom: next });
  };

  const divide = (part) => {
    state.divide = Math.min(1, Math.max(0, part));
    range.value = state.divide * 100;
    range.setAttribute("aria-valuetext", `${Math.round(state.divide * 100)} % reference`);
    const sheet = shownPanes[0]?.sheet;
    if (!sheet || state.view !== "slider") return;
    const left = `${state.divide * 100}%`;
    $$("img", sheet)[1].style.clipPath = `inset(0 0 0 ${left})`;
    $(".divider", sheet).style.left = left;
  };

  const swap = () => {
    state.swapped = !state.swapped;
    const one = shownPanes[0];
    if (state.view !== "blink" || !one) return;
    $$("img", one.sheet)[1].style.visibility = state.swapped ? "hidden" : "visible";
    one.label.textContent = state.swapped ? LABELS.reference : LABELS.render;
  };

  const draw = () => {
    clearInterval(blinking);
    panes.replaceChildren();
    shownPanes = [];
    readout.replaceChildren("Point at a pixel for its values");
    viewer.classList.toggle("filled", images.size > 0);
    if (images.size === 0) return;
    const fits = ([, , needed]) => needed.every((kind) => images.has(kind));
    const sizes = new Set(["reference", "render"].filter((kind) => images.has(kind)).map((kind) => size(kind).join("x")));
    // Images of different sizes are shown beside each other only.
    const can = (row) => fits(row) && !(sizes.size > 1 && (row[0] === "slider" || row[0] === "blink"));
    for (const row of VIEWS) viewButtons.get(row[0]).hidden = !can(row);
    const view = (VIEWS.find((row) => row[0] === state.view && can(row)) ?? VIEWS.find(can))[0];
    for (const [name, element] of viewButtons) element.setAttribute("aria-pressed", String(name === view));
    for (const [name, element] of byButtons) element.setAttribute("aria-pressed", String(name === state.by));
    byGroup.hidden = view !== "difference";
    divideRow.hidden = view !== "slider";
    if (view === "side") {
      shownPanes = [pane("reference"), pane("render")];
      shownPanes.forEach(pan);
    } else if (view === "slider") {
      const one = pane("reference", "render");
      one.label.textContent = "Reference left of the divider, render right of it";
      one.sheet.append(make("div", { class: "divider", "aria-hidden": "true" }));
      const to = (event) => {
        const box = one.sheet.getBoundingClientRect();
        divide((event.clientX - box.left) / box.width);
      };
      one.sheet.addEventListener("pointerdown", (event) => { one.sheet.setPointerCapture(event.pointerId); to(event); });
      one.sheet.addEventListener("pointermove", (event) => { if (event.buttons & 1) to(event); });
      shownPanes = [one];
      divide(state.divide);
    } else if (view === "blink") {
      shownPanes = [pane("reference", "render")];
      state.swapped = true;
      swap();
      shownPanes[0].sheet.addEventListener("click", () => { clearInterval(blinking); swap(); });
      if (!still.matches) blinking = setInterval(swap, 600);
    } else {
      shownPanes = [pane(view === "difference" ? state.by : view)];
      shownPanes.forEach(pan);
    }
    layOut();
  };

  const show = (change) => {
    Object.assign(state, change);
    draw();
  };

  const select = (id, focus) => {
    if (!articles.has(id)) return;
    articles.get(state.id)?.classList.remove("selected");
    state.id = id;
    const article = articles.get(id);
    article.classList.add("selected");
    for (const item of items) item.setAttribute("aria-current", String(item.hash.slice(1) === id));
    const item = items.find((item) => item.hash.slice(1) === id);
    item.scrollIntoView({ block: "nearest" });
    if (focus) item.focus({ preventScroll: true });
    $(".viewer-place", article).append(viewer);
    images = new Map($$(".figures img", article).map((image) => [image.dataset.kind, image]));
    pixels = new Map();
    for (const image of images.values()) image.loading = "eager";
    draw();
  };

  const go = (id, focus) => {
    history.replaceState(null, "", `#${id}`);
    select(id, focus);
  };

  // The list: filters, and moving through it.
  const search = $(".filter input");
  const states = $(".filter .states");
  const nothing = $(".nothing");
  const hiddenStates = new Set();
  const visible = () => items.filter((item) => !item.closest("tr").hidden);
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const item of items) {
      const text = item.textContent.toLowerCase();
      item.closest("tr").hidden = hiddenStates.has(item.dataset.status) || !words.every((word) => text.includes(word));
    }
    nothing.hidden = visible().length > 0;
  };
  for (const status of new Set(items.map((item) => item.dataset.status))) {
    const count = items.filter((item) => item.dataset.status === status).length;
    const toggle = make("button", { type: "button", text: `${count} ${status}${status === "error" && count !== 1 ? "s" : ""}`, class: status, "aria-pressed": "true", title: `Show or hide: ${status}` });
    toggle.addEventListener("click", () => {
      const on = hiddenStates.delete(status) || (hiddenStates.add(status), false);
      toggle.setAttribute("aria-pressed", String(on));
      filter();
    });
    states.append(toggle);
  }
  search.addEventListener("input", filter);
  const move = (by) => {
    const list = visible();
    const at = list.findIndex((item) => item.hash.slice(1) === state.id);
    const next = list[Math.min(list.length - 1, Math.max(0, at + by))];
    if (next) go(next.hash.slice(1), true);
  };
  for (const item of items) {
    item.addEventListener("click", (event) => { event.preventDefault(); go(item.hash.slice(1)); });
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target;
    const typing = target.matches("input, select, textarea");
    if (typing && target.type !== "range") {
      if (event.key === "Escape") target.blur();
      return;
    }
    const inList = target.matches(".item");
    const number = Number(event.key);
    if (number >= 1 && number <= VIEWS.length) {
      const [view] = VIEWS[number - 1];
      if (!viewButtons.get(view).hidden) show({ view });
    } else if (event.key === "0") show({ zoom: 0 });
    else if (event.key === "+" || event.key === "=") step(1);
    else if (event.key === "-") step(-1);
    else if (event.key === "j" || (inList && event.key === "ArrowDown")) move(1);
    else if (event.key === "k" || (inList && event.key === "ArrowUp")) move(-1);
    else if (event.key === "d") {
      const at = AMPLIFICATIONS.findIndex(([by]) => by === state.by);
      const next = state.view === "difference" ? (at + 1) % AMPLIFICATIONS.length : at;
      show({ view: "difference", by: AMPLIFICATIONS[next][0] });
    } else if (event.key === " " && state.view === "blink" && !target.matches("button")) {
      clearInterval(blinking);
      swap();
    } else if (event.key === "/") search.focus();
    else return;
    event.preventDefault();
  });

  for (const copy of $$(".copy")) {
    copy.addEventListener("click", async () => {
      const text = copy.closest(".block").querySelector("pre").textContent;
      try {
        await navigator.clipboard.writeText(text);
        copy.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(copy.closest(".block").querySelector("pre"));
        copy.textContent = "Selected: press Ctrl+C";
      }
    });
  }
  addEventListener("resize", layOut);
  addEventListener("hashchange", () => select(location.hash.slice(1)));
  const wanted = location.hash.slice(1);
  select(articles.has(wanted) ? wanted : items[0].hash.slice(1));
})();
