import html
import os
import sys

import weasyprint
from weasyprint.text.fonts import FontConfiguration

from common import COLUMNS, FOOT, serve, view

fonts = FontConfiguration()
style = weasyprint.CSS(string=f"""
@font-face {{ font-family: Text; src: url(file://{os.path.abspath(sys.argv[1])}) }}
@font-face {{ font-family: Text; font-weight: bold; src: url(file://{os.path.abspath(sys.argv[2])}) }}
@page {{ size: A4; margin: 18mm 15mm; @bottom-left {{ content: "{FOOT}"; font: 7.5pt Text }} @bottom-right {{ content: "Page " counter(page) " of " counter(pages); font: 7.5pt Text }} }}
body {{ font: 9pt/12pt Text; margin: 0 }}
h1 {{ font-size: 16pt; line-height: 20pt; margin: 0 0 4pt }}
p {{ margin: 0 }}
table {{ border-collapse: collapse; table-layout: fixed; width: 180mm; margin-top: 6pt }}
th, td {{ text-align: left; padding: 2.5pt 4pt; border-bottom: 0.4pt solid #999 }}
.n {{ text-align: right }}
""", font_config=fonts)


def make(kind, note):
    head, rows, net = view(kind, note)
    heads, widths = COLUMNS[kind]
    figures = len(heads) - 3

    def cells(tag, row):
        return "<tr>" + "".join(f"<{tag}{' class=n' if i >= figures else ''}>{html.escape(s)}</{tag}>" for i, s in enumerate(row)) + "</tr>"

    page = [f"<html lang=en><title>{head[0]}</title><h1>{head[0]}</h1>"] + [f"<p>{html.escape(line)}</p>" for line in head[1:]]
    page += ["<table>"] + [f"<col style='width: {w}mm'>" for w in widths] + ["<thead>", cells("th", heads), "</thead>"]
    page += [cells("td", row) for row in rows]
    page += [cells("th", ["Total"] + [""] * (len(heads) - 2) + [net]), "</table>"]
    return weasyprint.HTML(string="".join(page)).write_pdf(stylesheets=[style], font_config=fonts)


serve("WeasyPrint " + weasyprint.__version__, make)
