import io
import sys

import reportlab
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.platypus import LongTable, Paragraph, SimpleDocTemplate, Spacer

from common import COLUMNS, FOOT, serve, view

pdfmetrics.registerFont(TTFont("Text", sys.argv[1]))
pdfmetrics.registerFont(TTFont("Bold", sys.argv[2]))
TEXT = ParagraphStyle("text", fontName="Text", fontSize=9, leading=12)
HEAD = ParagraphStyle("head", fontName="Bold", fontSize=16, leading=20, spaceAfter=4)


def footer(canvas, _):
    canvas.setFont("Text", 7.5)
    canvas.drawString(15 * mm, 12 * mm, FOOT)
    canvas.drawRightString(195 * mm, 12 * mm, f"Page {canvas.getPageNumber()}")


def make(kind, note):
    head, rows, net = view(kind, note)
    heads, widths = COLUMNS[kind]
    story = [Paragraph(head[0], HEAD)] + [Paragraph(line, TEXT) for line in head[1:]] + [Spacer(1, 6)]
    data = [heads] + rows + [["Total"] + [""] * (len(heads) - 2) + [net]]
    story.append(LongTable(data, colWidths=[w * mm for w in widths], repeatRows=1, style=[
        ("FONT", (0, 0), (-1, -1), "Text", 9), ("FONT", (0, 0), (-1, 0), "Bold", 9), ("FONT", (0, -1), (-1, -1), "Bold", 9),
        ("ALIGN", (-3, 0), (-1, -1), "RIGHT"), ("LINEBELOW", (0, 0), (-1, -1), 0.4, "#999999"),
    ]))
    out = io.BytesIO()
    doc = SimpleDocTemplate(out, pagesize=A4, leftMargin=15 * mm, rightMargin=15 * mm, topMargin=18 * mm, bottomMargin=18 * mm, title=head[0])
    doc.build(story, onFirstPage=footer, onLaterPages=footer)
    return out.getvalue()


serve("ReportLab " + reportlab.Version, make)
