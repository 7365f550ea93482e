"""A client of pypsrp 1.0.0b1 that uses a server of ours and prints `ok NAME` for each thing that is as it should be.

    pypsrp_client.py process EXECUTABLE [ARGUMENT...]
    pypsrp_client.py pipe PATH
    pypsrp_client.py ssh HOST PORT USER KEY_FILE KNOWN_HOSTS_FILE

Which scenarios run says the environment's SCENARIOS: `all`, `samples` or `gone`.
"""

import asyncio
import faulthandler
import os
import sys
import traceback

import psrp
import psrpcore
import psrpcore.types as T

faulthandler.dump_traceback_later(300, exit=True)  # a client that hangs says where


class RawUI(psrp.PSHostRawUI):
    def __init__(self, written):
        super().__init__()
        self.written = written

    def get_foreground_color(self):
        return T.ConsoleColor.White

    def get_background_color(self):
        return T.ConsoleColor.Black

    def get_cursor_position(self):
        return T.Coordinates(1, 2)

    def get_window_position(self):
        return T.Coordinates(0, 0)

    def get_cursor_size(self):
        return 25

    def get_buffer_size(self):
        return T.Size(120, 3000)

    def get_window_size(self):
        return T.Size(120, 30)

    def get_max_window_size(self):
        return T.Size(120, 40)

    def get_max_physical_window_size(self):
        return T.Size(200, 60)

    def get_window_title(self):
        return "theirs"

    def set_window_title(self, title):
        self.written.append("title " + title)

    def set_cursor_position(self, x, y):
        self.written.append("cursor %d,%d" % (x, y))

    def read_key(self, options=T.ReadKeyOptions.IncludeKeyDown):
        return T.KeyInfo(65, T.PSChar("a"), T.ControlKeyStates.none, True)

    def get_buffer_contents(self, left, top, right, bottom):
        cell = lambda c: T.BufferCell(T.PSChar(c), T.ConsoleColor.White, T.ConsoleColor.Black, T.BufferCellType.Complete)
        return [[cell("x"), cell("y")]]


class Host(psrp.PSHost):
    def set_should_exit(self, exit_code):
        self.ui.written.append("exit %d" % exit_code)


class UI(psrp.PSHostUI):
    def __init__(self):
        self.written = []
        super().__init__(RawUI(self.written))

    def read_line(self):
        return "typed"

    def read_line_as_secure_string(self):
        return T.PSSecureString("hidden")

    def write_line(self, line=None, foreground_color=None, background_color=None):
        self.written.append("line " + (line or ""))

    def write(self, value, foreground_color=None, background_color=None):
        self.written.append("text " + value)

    def write_error_line(self, line):
        self.written.append("error " + line)

    def write_debug_line(self, line):
        self.written.append("debug " + line)

    def write_verbose_line(self, line):
        self.written.append("verbose " + line)

    def write_warning_line(self, line):
        self.written.append("warning " + line)

    def write_progress(self, source_id, activity_id, activity, status_description, **more):
        self.written.append("progress " + activity)

    def prompt(self, caption, message, descriptions):
        return {d.Name: caption + "/" + d.Name for d in descriptions}

    def prompt_for_credential(self, caption, message, username=None, target_name=None, *more, **named):
        return T.PSCredential("user", T.PSSecureString("pass"))

    def prompt_for_choice(self, caption, message, choices, default_choice=-1):
        return 1


def equal(got, want):
    if got != want:
        raise AssertionError("got %r, want %r" % (got, want))


async def run(pool, command, parameters=None, arguments=(), data=None):
    ps = psrp.AsyncPowerShell(pool)
    ps.add_command(command)
    for name, value in (parameters or {}).items():
        ps.add_parameter(name, value)
    for value in arguments:
        ps.add_argument(value)
    return await ps.invoke(input_data=data), ps


async def fails(ps):
    try:
        await ps.invoke()
    except psrp.PipelineFailed as e:
        return e.error_record.FullyQualifiedErrorId
    raise AssertionError("the pipeline did not fail")


async def arguments(pool, ui):
    out, _ = await run(pool, "get-args", {"Text": "a <&> _x0041_ \U0001F600", "Count": 3, "Force": None, "Names": ["x", "y"]})
    equal([str(x) for x in out], ["a <&> _x0041_ \U0001F600|3|true|x+y"])
    out, _ = await run(pool, "Get-Args", {}, ["a", "2"])
    equal([str(x) for x in out], ["a|2|false|"])


async def errors(pool, ui):
    for name, parameters, want in [
        ("Get-Nothing", {}, "CommandNotFoundException"),
        ("Get-Args", {}, "MissingMandatoryParameter,Get-Args"),
        ("Get-Args", {"Text": "a", "Nope": 1}, "NamedParameterNotFound,Get-Args"),
        ("Stop-Badly", {}, "InternalError,Stop-Badly"),
        ("Stop-Told", {}, "Told"),
    ]:
        ps = psrp.AsyncPowerShell(pool)
        ps.add_command(name)
        ps.add_parameters(**parameters)
        equal(await fails(ps), want)
    ps = psrp.AsyncPowerShell(pool)
    ps.add_script("'a'")
    equal(await fails(ps), "ScriptsNotAllowed")


async def types(pool, ui):
    out, _ = await run(pool, "Get-Types")
    equal(
        [(type(x).__name__, str(x)) for x in out],
        [
            ("PSString", "text"), ("PSChar", "é"), ("bool", "True"), ("PSByte", "255"), ("PSSByte", "-128"), ("PSInt", "-2147483648"), ("PSUInt64", "18446744073709551615"),
            ("PSDouble", "1.5"), ("PSDecimal", "1.50"), ("PSByteArray", "b'\\x00\\x01'"), ("PSGuid", "ab000000-0000-0000-0000-000000000001"), ("PSVersion", "1.2.3.4"),
            ("PSDateTime", "2026-11-21 15:09:28+00:00"), ("PSDuration", "0:01:35"), ("NoneType", "None"), ("PSList", "[1, 'a']"), ("PSDict", "{'k': 1}"), ("PSObject", "Thing"),
        ],
    )
    equal((out[-1].Name, out[-1].Size, out[-1].PSTypeNames), ("Thing", 7, ["Deserialized.Quire.Thing", "Deserialized.System.Object"]))


async def streams(pool, ui):
    ui.written.clear()
    out, ps = await run(pool, "Write-All", {"Verbose": None, "Debug": None})
    equal([str(x) for x in out], ["o"])
    s = ps.streams
    equal([str(x) for x in s.error], ["e"])
    equal([x.FullyQualifiedErrorId for x in s.error], ["Bad"])
    equal([x.Message for x in s.warning], ["w"])
    equal([x.Message for x in s.verbose], ["v"])
    equal([x.Message for x in s.debug], ["d"])
    equal([(x.Activity, x.PercentComplete) for x in s.progress], [("a", 50)])
    equal([(str(x.MessageData), x.Tags) for x in s.information], [("i", ["tag"]), ("h", ["PSHOST"])])
    equal(ui.written, ["warning w", "verbose v", "debug d", "progress a", "line h"])


async def input_(pool, ui):
    out, _ = await run(pool, "Copy-Input", data=list(range(1000)))
    equal(out, list(range(1000)))
    out, _ = await run(pool, "Copy-Input", data=[])
    equal(out, [])
    out, _ = await run(pool, "Copy-Input", data=["", "a" * 100000])  # None it would send as a PIPELINE_OUTPUT
    equal(out, ["", "a" * 100000])


async def large(pool, ui):
    out, _ = await run(pool, "Get-Big", {"Size": 3 << 20})
    equal(len(out[0]), 3 << 20)


async def stop(pool, ui):
    ps = psrp.AsyncPowerShell(pool)
    ps.add_command("Wait-Forever")
    task = await ps.invoke_async()
    await asyncio.sleep(0.2)
    await ps.stop()
    try:
        await task
    except psrp.PipelineStopped:
        out, _ = await run(pool, "Get-Args", {"Text": "after"})
        equal([str(x) for x in out], ["after|1|false|"])
        return
    raise AssertionError("the pipeline was not stopped")


async def prompts(pool, ui):
    out, _ = await run(pool, "Read-User")
    equal([str(x) for x in out], ["line typed", "secret hidden", "field Who/name", "choice 1", "user user pass"])


async def secrets(pool, ui):
    out, _ = await run(pool, "Get-Secret", {"Secret": T.PSSecureString("open sesame")})
    equal([x.decrypt() for x in out], ["open sesame"])


async def metadata(pool, ui):
    pipe = psrp.AsyncCommandMetaPipeline(pool, name=["Get-Args", "Out-Default", "Exit-PSSession"])
    out = await pipe.invoke()
    equal(out[0].Count, 3)
    equal(sorted(x.Name for x in out[1:]), ["Exit-PSSession", "Get-Args", "Out-Default"])
    args = [x for x in out[1:] if x.Name == "Get-Args"][0]
    equal(
        {k: (p.ParameterType, p.Aliases, p.SwitchParameter) for k, p in args.Parameters.items()},
        {
            "Text": ("System.String", ["T"], False), "Count": ("System.Int64", [], False),
            "Force": ("System.Management.Automation.SwitchParameter", [], True), "Names": ("System.String[]", [], False),
        },
    )


async def chains(pool, ui):
    ps = psrp.AsyncPowerShell(pool)
    ps.add_command("Get-Args").add_argument("a").add_command("Copy-Input").add_statement().add_command("Get-Args").add_argument("b")
    equal([str(x) for x in await ps.invoke()], ["a|1|false|", "b|1|false|"])


async def console(pool, ui):
    ui.written.clear()
    ps = psrp.AsyncPowerShell(pool)
    ps.add_command("Get-Args").add_argument("shown").add_command("Out-Default")
    equal(await ps.invoke(), [])
    equal(ui.written, ["line shown|1|false|"])


async def runspaces(pool, ui):
    equal(await pool.set_max_runspaces(4), True)
    equal(await pool.set_min_runspaces(2), True)
    equal(await pool.set_max_runspaces(1), False)
    equal(await pool.get_available_runspaces(), 4)
    equal(await pool.reset_runspace_state(), True)


async def parallel(pool, ui):
    waits = await asyncio.gather(*[run(pool, "Copy-Input", data=[i]) for i in range(4)])
    equal([out for out, _ in waits], [[0], [1], [2], [3]])


async def merged(pool, ui):
    ui.written.clear()
    command = psrpcore.Command("Write-All")
    command.redirect_error()
    command.redirect_warning()
    ps = psrp.AsyncPowerShell(pool)
    ps.add_command(command)
    out = await ps.invoke()
    equal([str(getattr(x, "Message", x)) for x in out], ["o", "e", "w"])
    equal((ps.streams.error, ps.streams.warning), ([], []))
    equal(ui.written, ["progress a", "line h"])


async def actions(pool, ui):
    ps = psrp.AsyncPowerShell(pool)
    ps.add_command("Write-All").add_parameters(ErrorAction="Stop")
    equal(await fails(ps), "Bad")
    _, ps = await run(pool, "Write-All", {"ErrorAction": "SilentlyContinue", "WarningAction": "Ignore"})
    equal((ps.streams.error, ps.streams.warning, len(ps.streams.information)), ([], [], 2))


async def credentials(pool, ui):
    out, _ = await run(pool, "Get-Login", {"Login": T.PSCredential("them", T.PSSecureString("theirs"))})
    equal(str(out[0]), "them theirs")
    equal((out[1].UserName, out[1].Password.decrypt()), ("them", "theirs"))


async def screen(pool, ui):
    ui.written.clear()
    out, _ = await run(pool, "Use-Screen")
    equal([str(x) for x in out], ["theirs 120x3000", "key a, 65", "cells xy"])
    equal(ui.written, ["title ours", "cursor 3,4", "text red", "exit 3"])


async def waiting(pool, ui):
    """Pipelines beyond the runspaces wait; one that waits is stopped at once."""
    await pool.set_min_runspaces(1)
    equal(await pool.set_max_runspaces(1), True)
    first, second = psrp.AsyncPowerShell(pool), psrp.AsyncPowerShell(pool)
    first.add_command("Wait-Forever")
    second.add_command("Get-Args").add_argument("never")
    tasks = [await first.invoke_async(), await second.invoke_async()]
    equal(await pool.get_available_runspaces(), 0)
    for ps, task in ((second, tasks[1]), (first, tasks[0])):
        await ps.stop()
        try:
            await task
            raise AssertionError("the pipeline was not stopped")
        except psrp.PipelineStopped:
            pass
    equal(await pool.get_available_runspaces(), 1)
    equal(await pool.set_max_runspaces(4), True)


async def gone(pool, ui):
    """The client dies while a pipeline runs."""
    ps = psrp.AsyncPowerShell(pool)
    ps.add_command("Wait-Forever")
    await ps.invoke_async()
    print("ok gone", flush=True)
    os._exit(0)


async def get_quire_host(pool, ui):
    out, _ = await run(pool, "Get-QuireHost")
    equal(out[0].PSTypeNames[0], "Deserialized.Quire.Host")
    equal(out[0].Processors > 0, True)


async def measure_number(pool, ui):
    out, _ = await run(pool, "Measure-Number", data=[1, 2.5, "4"])
    equal([(x.Count, x.Sum, x.Minimum, x.Maximum) for x in out], [(3, 7.5, 1.0, 4.0)])


async def wait_countdown(pool, ui):
    out, ps = await run(pool, "Wait-Countdown", {"From": 2, "Pause": "1ms", "Verbose": None})
    equal(out, [2, 1])
    equal([x.Message for x in ps.streams.verbose], ["2", "1"])
    equal(len(ps.streams.progress), 3)


async def main():
    mode, *rest = sys.argv[1:]
    if mode == "process":
        info = psrp.ProcessInfo(rest[0], rest[1:])
    elif mode == "pipe":
        info = psrp.NamedPipeInfo(rest[0])
    else:
        info = psrp.SSHInfo(rest[0], int(rest[1]), options=ssh_options(*rest[2:]))
    ui = UI()
    scenarios = [arguments, errors, types, streams, input_, large, stop, prompts, secrets, metadata, chains, console, runspaces, parallel, merged, actions, credentials, screen, waiting]
    scenarios = {"samples": [get_quire_host, measure_number, wait_countdown], "gone": [gone]}.get(os.environ.get("SCENARIOS"), scenarios)
    pool = psrp.AsyncRunspacePool(info, max_runspaces=2, host=Host(ui), application_arguments={"who": "pypsrp"})
    async with pool:
        equal(str(pool.application_private_data["PSVersionTable"]["PSRemotingProtocolVersion"]), "2.3")
        for f in scenarios:
            try:
                await asyncio.wait_for(f(pool, ui), 120)
                print("ok", f.__name__.strip("_"), flush=True)
            except BaseException:
                print("failed", f.__name__.strip("_"), " | ".join(traceback.format_exc().strip().splitlines()[-3:]), flush=True)
    print("ok closed", flush=True)


def ssh_options(user, key, known_hosts):
    import asyncssh

    return asyncssh.SSHClientConnectionOptions(username=user, client_keys=[key], known_hosts=known_hosts, agent_path=None)


asyncio.run(main())
