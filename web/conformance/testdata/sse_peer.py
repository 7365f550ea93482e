# Reads four server-sent events, coming back with Last-Event-ID when the stream ends, and prints them. Argument: URL.
import json
import sys
import urllib.request

import sseclient

got, last = [], None
while len(got) < 4:
    request = urllib.request.Request(sys.argv[1], headers={"Accept": "text/event-stream"})
    if last is not None:
        request.add_header("Last-Event-ID", last)
    before = len(got)
    with urllib.request.urlopen(request, timeout=60) as answer:
        for event in sseclient.SSEClient(answer).events():
            got.append([event.id, event.event, event.data])
            last = event.id
            if len(got) == 4:
                break
    assert len(got) > before, "a stream without events"
print(json.dumps(got, separators=(",", ":")))
