"""Reads CLIXML by psrpcore 0.3.1 and writes it again: a line of base64 in, a line of base64 out.

Every body must be well-formed for lxml, too. What cannot be read comes back as `error TEXT`.
"""

import base64
import sys
import xml.etree.ElementTree as ET

import lxml.etree
from psrpcore.types import deserialize, serialize

for line in sys.stdin:
    try:
        body = base64.b64decode(line)
        lxml.etree.fromstring(body)
        out = ET.tostring(serialize(deserialize(ET.fromstring(body), None), None), encoding="utf-8", xml_declaration=False)
        print(base64.b64encode(out).decode())
    except Exception as e:
        print("error", repr(e).replace("\n", " "))
