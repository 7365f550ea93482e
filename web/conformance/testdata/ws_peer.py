# Sends messages to an echo over WebSocket and wants them back. Arguments: URL, "deflate" or "plain".
import asyncio
import sys

from websockets.asyncio.client import connect


async def main(url, compression):
    async with connect(url, compression="deflate" if compression else None) as ws:
        for message in ("text", "", "é" * 1000, b"\x00\xff" * 500, "x" * 20000):
            await ws.send(message)
            got = await asyncio.wait_for(ws.recv(), 60)
            assert got == message, f"sent {message[:20]!r}, got {got[:20]!r}"
        assert bool(ws.protocol.extensions) == compression, ws.protocol.extensions
    assert ws.close_code == 1000, ws.close_code


asyncio.run(main(sys.argv[1], sys.argv[2] == "deflate"))
