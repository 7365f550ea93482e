import importlib.metadata
import json
import os
import sys

import typst

from common import COLUMNS, FOOT, serve, view

SOURCE = """
#let d = json("data.json")
#set document(title: d.head.at(0))
#set text(font: "Liberation Sans", size: 9pt, lang: "en")
#set page(paper: "a4", margin: (x: 15mm, y: 18mm), footer: context { set text(size: 7.5pt); [FOOT #h(1fr) Page #counter(page).display() of #counter(page).final().first()] })
#text(size: 16pt, weight: "bold", d.head.at(0))

#d.head.slice(1).join(linebreak())
#let n = d.heads.len()
#table(
  columns: d.widths.map(w => w * 1mm), stroke: (bottom: 0.4pt + luma(60%)), inset: (x: 4pt, y: 2.5pt),
  align: (x, y) => if x >= n - 3 { right } else { left },
  table.header(..d.heads.map(strong)),
  ..d.rows.flatten(),
  table.cell(colspan: n - 1, align: left)[*Total*], strong(d.net),
)
""".replace("FOOT", FOOT)

folder = os.path.dirname(os.path.abspath(sys.argv[1]))
source = os.path.join(folder, "note.typ")
with open(source, "w") as f:
    f.write(SOURCE)
fonts = typst.Fonts(include_system_fonts=False, include_embedded_fonts=False, font_paths=[folder])


def make(kind, note):
    head, rows, net = view(kind, note)
    heads, widths = COLUMNS[kind]
    with open(os.path.join(folder, "data.json"), "w") as f:
        json.dump({"head": head, "rows": rows, "net": net, "heads": heads, "widths": widths}, f)
    return typst.compile(source, root=folder, font_paths=fonts)


serve("Typst " + importlib.metadata.version("typst"), make)
