// Small helpers: elements, numbers, and one tab stop for many things.

const SVG = "http://www.w3.org/2000/svg";

/**
 * An element. A key that begins with "on" listens, `style` is a mapping (custom properties too),
 * null and false leave an attribute or a child out.
 */
export function h(name, attributes, ...children) {
  return filled(document.createElement(name), attributes, children);
}

export function svg(name, attributes, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "style") {
      for (const [name, setting] of Object.entries(value)) element.style.setProperty(name, setting);
    } else element.setAttribute(key, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== false));
  return element;
}

/** Text of any script, kept from turning its neighbours around. */
export function word(text) {
  return h("bdi", null, text);
}

/** A weight or a log probability with two digits behind the point, and a true minus sign. */
export function number(value, digits = 2) {
  return value.toFixed(digits).replace("-", "\u2212");
}

/** A switch with its label. */
export function toggle(text, checked, change) {
  const box = h("input", { type: "checkbox", checked, onchange: () => change(box.checked) });
  return h("label", { class: "rv-toggle" }, box, text);
}

/**
 * One tab stop for many elements: `move(index, key)` says which of them an arrow key leads to.
 * Elements must be focusable; the one that was focused last is the tab stop.
 */
export function roving(elements, move) {
  elements.forEach((element, index) => {
    element.tabIndex = index === 0 ? 0 : -1;
    element.addEventListener("focus", () => {
      for (const other of elements) other.tabIndex = -1;
      element.tabIndex = 0;
    });
    element.addEventListener("keydown", (event) => {
      const next = move(index, event.key);
      if (next === null || next === undefined || !elements[next]) return;
      event.preventDefault();
      elements[next].focus();
    });
  });
}

/** Moves along one line: arrows in either direction, Home and End. */
export function alongLine(count) {
  return (index, key) => {
    if (key === "ArrowRight" || key === "ArrowDown") return Math.min(index + 1, count - 1);
    if (key === "ArrowLeft" || key === "ArrowUp") return Math.max(index - 1, 0);
    if (key === "Home") return 0;
    return key === "End" ? count - 1 : null;
  };
}

/** The root of a view: whatever was in the element gives way to it. */
export function root(el, kind) {
  const made = h("div", { class: `rv rv-${kind}` });
  el.replaceChildren(made);
  return made;
}
