"""A PowerShell remoting server over standard input and output, made of psrpcore 0.3.1: the judge of our client.

What a pipeline does is said by the name of its first command. FAULT names what the server does wrong.
"""
import base64
import datetime
import hashlib
import os
import re
import sys
import threading
import uuid

import psrpcore
from psrpcore import types as t

FAULT = os.environ.get("FAULT", "")
ZERO = "00000000-0000-0000-0000-000000000000"
LINE = re.compile(r"<(\w+)(?: Stream='(\w+)')? PSGuid='([-0-9a-fA-F]+)'(?: />|>(.*)</Data>)$")

guard = threading.Timer(60, lambda: os._exit(9))  # no judge waits for ever
guard.daemon = True
guard.start()
pool = psrpcore.ServerRunspacePool()
pipes = {}
inputs = {}
running = {}
appended = {}  # files, by the pipeline that appends to them


def write(line):
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def ack(kind, guid):
    write(f"<{kind}Ack PSGuid='{guid}' />")


def flush():
    while True:
        p = pool.data_to_send(32768)
        if p is None:
            return
        data, guid = bytes(p.data), str(p.pipeline_id or ZERO)
        if FAULT == "oversize" and p.pipeline_id:
            data = data[:17] + b"\xff\xff\xff\xff" + data[21:]
        if FAULT == "object0" and p.pipeline_id:
            data = bytes(8) + data[8:]
        if FAULT == "badtag" and p.pipeline_id:
            data = data.replace(b"<S>", b"<Q>").replace(b"</S>", b"</Q>")
        parts = [data]
        if FAULT == "cut":  # inside the header, and inside the blob
            parts = [data[:10], data[10:30], data[30:]]
        for part in parts:
            if part:
                write(f"<Data Stream='Default' PSGuid='{guid}'>{base64.b64encode(part).decode()}</Data>")
        if FAULT == "die" and p.pipeline_id:
            sys.stdout.write("<Data Stream='Default' PSGuid='" + guid + "'>AAAA")
            sys.stdout.flush()
            sys.stderr.write("the judge dies\n")
            sys.stderr.flush()
            os._exit(3)


def values():
    return [
        "text\n_x0041_ \U0001F600 <&>", t.PSChar("\u00e9"), True, t.PSByte(255), t.PSSByte(-128), t.PSInt16(-32768), t.PSUInt16(65535), t.PSInt(-(2**31)),
        t.PSUInt(2**32 - 1), t.PSInt64(-(2**63)), t.PSUInt64(2**64 - 1), t.PSDouble(1.7976931348623157e308), t.PSDecimal("1.50"), b"\x00\x01\xff",
        t.PSGuid("ab000000-0000-0000-0000-000000000001"), t.PSVersion("1.2.3.4"), t.PSUri("http://a/?b&c"), t.PSXml("<a />"), t.PSScriptBlock("$_"),
        t.PSDateTime(2026, 11, 21, 15, 9, 28, tzinfo=datetime.timezone.utc), t.PSDuration(seconds=95), None, [1, "a", None], {"k": 1},
    ]


def hash_of(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest().upper()


def file_script(pipe, guid, does, p):
    """Does what the script of Upload and Download does whose first line says so."""
    if does == "Says":
        path, exists = os.path.abspath(p["Path"]), os.path.isfile(p["Path"])
        pipe.write_output(t.PSCustomObject(Path=path, Exists=exists, IsDirectory=os.path.isdir(path), Size=t.PSInt64(os.path.getsize(path) if exists else 0),
                                           Hash=hash_of(path) if exists and p["WithHash"] else ""))
    elif does == "Appends":
        appended[guid] = open(p["Path"], "ab" if p["Offset"] else "xb")
        if appended[guid].tell() != p["Offset"]:
            raise RuntimeError("changed by others")
        return False
    elif does == "Gives":
        found = hash_of(p["From"])
        if found.lower() == p["Hash"].lower():
            (os.replace if p["Overwrite"] else os.rename)(p["From"], p["To"])
        pipe.write_output(found)
    elif does == "Writes":
        with open(p["Path"], "rb") as f:
            f.seek(p["Offset"])
            left = p["Count"]
            while left > 0 and (block := f.read(min(left, p["BlockSize"]))):
                pipe.write_output(block)
                left -= len(block)
    elif does == "Removes":
        os.path.exists(p["Path"]) and os.remove(p["Path"])
    return True


def step(pipe, ps, guid):
    cmd = ps.commands[0]
    name, args = cmd.command_text.strip(), [v for _, v in cmd.parameters]
    if name.startswith("# "):
        return file_script(pipe, guid, name.split()[1], dict(cmd.parameters))
    if name == "types":
        for v in values():
            pipe.write_output(v)
    elif name == "args":
        for v in args:
            pipe.write_output(v)
    elif name == "streams":
        pipe.write_output(1)
        pipe.write_error(t.NETException(Message="e"), fully_qualified_error_id="Id")
        pipe.write_warning("w")
        pipe.write_verbose("v")
        pipe.write_debug("d")
        pipe.write_progress("a", 1, "s")
        pipe.write_information("i", "src")
        pipe.write_output(2)
    elif name == "big":
        pipe.write_output("x" * int(args[0]))
    elif name == "fail":
        pipe._change_state(t.PSInvocationState.Failed, t.ErrorRecord(Exception=t.NETException(Message="as asked"), CategoryInfo=t.ErrorCategoryInfo(), FullyQualifiedErrorId="Failure"))
        running.pop(guid)
        return False
    elif name == "ask":
        psrpcore.ServerHostRequestor(pipe).read_line()
        return False
    elif name in ("echo", "sleep"):
        return False
    return True


def events():
    while True:
        ev = pool.next_event()
        if ev is None:
            return
        kind = type(ev).__name__
        guid = str(getattr(ev, "pipeline_id", "") or "").lower()
        if kind == "CreatePipelineEvent":
            pipe, ps = pipes[guid], ev.pipeline
            running[guid] = ps.commands[0].command_text.strip()
            pipe.start()
            if step(pipe, ps, guid):
                pipe.complete()
                running.pop(guid, None)
        elif kind == "GetCommandMetadataEvent":
            pipe = pipes[guid]
            pipe.start()
            pipe.write_output(t.PSCustomObject(PSTypeName="Selected.Microsoft.PowerShell.Commands.GenericMeasureInfo", Count=1))
            pipe.write_output(t.PSCustomObject(PSTypeName="Selected.System.Management.Automation.CmdletInfo", Name="Get-Thing", Namespace="M", HelpUri="", CommandType=8,
                              ResolvedCommandName=None, OutputType=[], Parameters={}))
            pipe.complete()
        elif kind == "PipelineInputEvent":
            if running.get(guid) == "echo":
                pipes[guid].write_output(ev.data)
            elif guid in appended:
                appended[guid].write(ev.data)
        elif kind == "EndOfPipelineInputEvent":
            done = running.pop(guid, None) == "echo"
            if guid in appended:
                with appended.pop(guid) as f:
                    pipes[guid].write_output(t.PSInt64(f.tell()))
                done = True
            if done:
                pipes[guid].complete()
        elif kind == "PipelineHostResponseEvent":
            pipes[guid].write_output(ev.result)
            pipes[guid].complete()
            running.pop(guid, None)
        elif kind in ("SetMaxRunspacesEvent", "SetMinRunspacesEvent", "ResetRunspaceStateEvent"):
            pool.runspace_availability_response(ev.ci, True)
        elif kind == "GetAvailableRunspacesEvent":
            pool.runspace_availability_response(ev.ci, 1)


def main():
    if FAULT == "banner":
        write("Welcome to the judge")
    for line in sys.stdin:
        m = LINE.match(line.rstrip("\r\n"))
        if not m:
            os._exit(4)
        kind, stream, guid, data = m.groups()
        guid = guid.lower()
        if FAULT == "silent":
            continue
        if kind == "Data":
            raw = base64.b64decode(data)
            pool.receive_data(psrpcore.PSRPPayload(raw, psrpcore.StreamType.prompt_response if stream == "PromptResponse" else psrpcore.StreamType.default, None if guid == ZERO else uuid.UUID(guid)))
            ack("Data", guid)
            if FAULT == "dup-ack":
                ack("Data", guid)
            if FAULT == "badline" and guid != ZERO:
                write("this is no packet")
            events()
            flush()
        elif kind == "Command":
            pipes[guid] = psrpcore.ServerPipeline(pool, uuid.UUID(guid))
            ack("Command", guid)
        elif kind == "Signal":
            if guid in running:
                running.pop(guid)
                pipes[guid].stop()
            flush()
            ack("Signal", guid)
        elif kind == "Close" and guid != ZERO:
            if guid in pipes:
                if guid in running:
                    running.pop(guid)
                    pipes[guid].stop()
                pipes.pop(guid).close()
            flush()
            ack("Close", guid)
        elif kind == "Close":
            pool.begin_close()
            pool.close()
            flush()
            ack("Close", guid)
            os._exit(0)


main()
