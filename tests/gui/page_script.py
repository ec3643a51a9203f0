"""Runs the script of a page with sliders without a browser: Qt's JavaScript engine, and as much of a document as the
script uses."""

from __future__ import annotations

import json
import re
from pathlib import Path

from PySide6.QtQml import QJSEngine

DOCUMENT = """
var Element = class {
  constructor(tag) {
    this.tag = tag; this.own = ""; this.children = []; this.style = {}; this.attributes = {}; this.heard = {};
    this.hidden = false;
  }
  get textContent() { return this.own + this.children.map(one => one.textContent).join("\\n"); }
  set textContent(text) { this.own = String(text); this.children = []; }
  append(...all) { for (const one of all) this.children.push(one); }
  replaceChildren() { this.own = ""; this.children = []; }
  setAttribute(name, value) { this.attributes[name] = value; }
  addEventListener(what, call) { this.heard[what] = call; }
  all() { return [this].concat(...this.children.map(one => one.all())); }
};
var byId = {};
var document = {
  createElement: tag => new Element(tag),
  getElementById: id => byId[id] || (byId[id] = new Element("div")),
};
function labelled(name) { return byId.controls.all().find(one => one.attributes["aria-label"] === name); }
function move(name, value) { const one = labelled(name); one.value = value; one.heard.input(); }
function rows(id) {
  return byId[id].all().filter(one => one.tag === "tr").map(one => one.children.map(cell => cell.textContent));
}
"""


class Page:
    """An open page. Raises AssertionError where its script fails."""

    def __init__(self, path: Path) -> None:
        self.text = path.read_text(encoding="utf-8")
        data = re.search(r'id="data">(.*?)</script>', self.text, re.S)
        script = re.search(r"<script>(.*?)</script>", self.text, re.S)
        assert data is not None and script is not None
        self.data = json.loads(data[1])
        self._engine = QJSEngine()
        self.run(DOCUMENT)
        self.run(f"document.getElementById('data').textContent = {json.dumps(data[1])}")
        self.run(script[1])

    def run(self, program: str) -> str:
        """What a program evaluates to."""
        value = self._engine.evaluate(program)
        assert not value.isError(), f"{value.toString()} in line {value.property('lineNumber').toString()}"
        return value.toString()

    def move(self, name: str, value: object) -> None:
        """Move the slider, or choose in the list, of this name to a value."""
        (axis,) = (axis for axis in self.data["axes"] if axis["name"] == name)
        self.run(f"move({json.dumps(name)}, {axis['values'].index(value)})")

    def choose_counter(self, name: str) -> None:
        """Show this counter at the lines."""
        places = [counter["name"] for counter in self.data["counters"]]
        self.run(f"move('counter of bars and lines', {places.index(name)})")

    def shown(self, id: str) -> str:
        """The text of an element; "" where it is hidden."""
        return self.run(f"byId[{json.dumps(id)}].hidden ? '' : byId[{json.dumps(id)}].textContent")

    def rows(self, id: str) -> list[list[str]]:
        """The cells of the tables in an element."""
        return list(json.loads(self.run(f"JSON.stringify(rows({json.dumps(id)}))")))
