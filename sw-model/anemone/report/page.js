// SPDX-License-Identifier: Apache-2.0
// Hover texts and the theme switch. The pictures are complete without it.
"use strict";
(() => {
  const tip = document.getElementById("tip");
  const show = (event, words) => {
    tip.textContent = words;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const right = event.clientX + 14 + box.width > innerWidth;
    tip.style.left = `${Math.max(4, right ? event.clientX - 14 - box.width : event.clientX + 14)}px`;
    tip.style.top = `${Math.min(event.clientY + 14, innerHeight - box.height - 4)}px`;
  };
  // The last edge at or before a place; -1 outside.
  const within = (edges, at) => {
    const up = edges[0] < edges[edges.length - 1];
    for (let i = 0; i + 1 < edges.length; i += 1) {
      if (up ? at >= edges[i] && at < edges[i + 1] : at <= edges[i] && at > edges[i + 1]) return i;
    }
    return -1;
  };
  // Each picture may bring a grid of cells over its plot, and their words: charts.Hover.
  for (const data of document.querySelectorAll("script.hover")) {
    const cells = JSON.parse(data.textContent);
    const svg = data.parentElement.querySelector("svg");
    const spot = document.createElementNS(svg.namespaceURI, "rect");
    spot.setAttribute("class", cells.rows.length > 1 ? "spot" : "spot column");
    const hide = () => { tip.hidden = true; spot.remove(); };
    const frame = (at, size, edges, i) => {
      spot.setAttribute(at, Math.min(edges[i], edges[i + 1]));
      spot.setAttribute(size, Math.abs(edges[i + 1] - edges[i]));
    };
    svg.addEventListener("pointermove", (event) => {
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      const column = within(cells.x, at.x);
      const row = within(cells.y, at.y);
      if (column < 0 || row < 0) { hide(); return; }
      frame("x", "width", cells.x, column);
      frame("y", "height", cells.y, row);
      svg.append(spot);
      const value = cells.values.length ? cells.values[column][row].toLocaleString("en") : "";
      const said = {row: cells.rows[row], column: cells.columns[column], value};
      show(event, cells.words.replace(/\{(\w+)\}/g, (_, name) => said[name]));
    });
    svg.addEventListener("pointerleave", hide);
  }
  document.getElementById("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = (root.style.colorScheme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
    root.style.colorScheme = dark ? "light" : "dark";
  });
})();
