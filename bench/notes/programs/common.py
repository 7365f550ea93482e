"""What the programs of other languages share: they read notes, one a line, and answer each with a length and a PDF."""
import json
import struct
import sys

COLUMNS = {
    "retail": (["Order", "Security", "Side", "Quantity", "Price", "Amount"], [28, 52, 16, 24, 28, 32]),
    "hft": (["Order", "Time", "Security", "Side", "Quantity", "Price", "Amount"], [26, 24, 40, 14, 22, 26, 28]),
}
FOOT = "Registered broker, member of the exchange"


def money(hundredths):
    return f"{hundredths // 100:,}.{hundredths % 100:02d}"


def view(kind, note):
    """The lines above the table, its rows as texts, and their total."""
    rows, net = [], 0
    for t in note["trades"]:
        whole, _, fraction = str(t["price"]).partition(".")
        price = int(whole) * 100 + int((fraction + "00")[:2])
        amount = price * t["qty"]
        net += amount
        row = [t["order"], t["time"], t["symbol"], t["side"], f"{t['qty']:,}", money(price), money(amount)]
        if kind == "retail":
            del row[1]
        rows.append(row)
    client = note["client"]
    head = [f"Contract note {note['number']}", f"{note['date']}, client {client['code']}", client["name"]]
    if kind == "retail":
        head += client["address"]
    return head, rows, money(net)


def serve(version, make):
    out = sys.stdout.buffer
    name = version.encode()
    out.write(struct.pack(">Q", len(name)) + name)
    out.flush()
    for line in sys.stdin.buffer:
        request = json.loads(line, parse_float=str)
        pdf = make(request["kind"], request["note"])
        out.write(struct.pack(">Q", len(pdf)))
        out.write(pdf)
        out.flush()
