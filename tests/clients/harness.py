"""What the client scenarios share: a connection with a transcript, and a runner that counts.

A scenario is an async function under `@scenario("a sentence")`. It opens connections with `connect`, over stdio or over
HTTP as the program was told, and says what must hold with `assert`. After each connection the transcript is checked too
(`check_transcript`): whatever a scenario is about, the server must have ended with 0 once its input closed, or once it
got SIGTERM, and it must have sent messages and nothing else.
"""

import asyncio
import json
import sys
import tempfile
import time
import traceback
from contextlib import asynccontextmanager
from pathlib import Path

import mcp_types as types
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

RELAY = Path(__file__).with_name("relay.py")
PATIENCE = 60  # seconds a scenario may hang before it has failed; nothing is measured by it

_scenarios = []


def scenario(sentence):
    """Registers an async function as the scenario that `sentence` tells."""

    def register(function):
        _scenarios.append((sentence, function))
        return function

    return register


class Transcript:
    """The lines of one connection, there once the connection has closed."""

    def __init__(self):
        self.entries = []

    def read(self, path):
        """Takes over what the relay wrote: pairs of a kind and a text."""
        self.entries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    def sent(self):
        """The client's messages, in order."""
        return [json.loads(text) for kind, text in self.entries if kind == "<"]

    def received(self):
        """The server's messages, in order."""
        return [json.loads(text) for kind, text in self.entries if kind == ">"]

    def progress_of(self, token):
        """The `params` of each progress notification that carries `token`, in order."""
        return [
            message["params"]
            for message in self.received()
            if message.get("method") == "notifications/progress" and message["params"]["progressToken"] == token
        ]

    def call_ids(self, tool):
        """The ids of the calls of `tool`, in order; they are their progress tokens too, as this client does it."""
        return [
            message["id"]
            for message in self.sent()
            if message.get("method") == "tools/call" and message["params"]["name"] == tool
        ]

    def cancelled(self):
        """The ids that the client cancelled."""
        return [
            message["params"]["requestId"]
            for message in self.sent()
            if message.get("method") == "notifications/cancelled"
        ]


def over_http():
    """Whether the scenarios run over HTTP."""
    return sys.argv[2:] == ["--http"]


@asynccontextmanager
async def connect(mode="legacy", **callbacks):
    """A client of this mode, connected to the program under test, and the transcript."""
    transcript = Transcript()
    async with (_http if over_http() else _stdio)(transcript) as server:
        # No cache: a scenario that lists twice wants to hear the server twice.
        async with Client(server, mode=mode, cache=None, **callbacks) as client:
            yield client, transcript
    check_transcript(transcript)


@asynccontextmanager
async def _stdio(transcript):
    """The program, to be started by the client, with the relay in between."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "transcript"
        yield StdioServerParameters(command=sys.executable, args=[str(RELAY), str(log), sys.argv[1], "--stdio"])
        transcript.read(log)


@asynccontextmanager
async def _http(transcript):
    """The program on a port of its own, and the client's own transport to it, with a note of what passes through."""
    # the larger example says on standard output where it is, so that a program can read it
    says = "stdout" if Path(sys.argv[1]).name == "everything" else "stderr"
    server = await asyncio.create_subprocess_exec(
        sys.argv[1], "--http", "127.0.0.1:0", **{says: asyncio.subprocess.PIPE}
    )
    try:
        url = (await getattr(server, says).readline()).decode().removeprefix("MCP at ").strip()
        yield _noted(url, transcript)
    except BaseException:
        server.kill()
        raise
    finally:
        if server.returncode is None:
            server.terminate()
        status = await server.wait()
    transcript.entries.append(["exit", status])


@asynccontextmanager
async def _noted(url, transcript):
    """The client's transport, as it is, between two streams that note each message."""
    async with streamable_http_client(url) as (read, write):
        yield _Noted(read, transcript), _Noted(write, transcript)


class _Noted:
    """A stream that notes what is received from it, or sent into it, and does all else as the one it wraps."""

    def __init__(self, inner, transcript):
        self._inner, self._transcript = inner, transcript

    def __getattr__(self, name):
        return getattr(self._inner, name)

    def _note(self, kind, item):
        text = str(item) if isinstance(item, Exception) else item.message.model_dump_json(by_alias=True, exclude_unset=True)
        self._transcript.entries.append([kind, text + "\n"])

    async def send(self, item):
        self._note("<", item)
        await self._inner.send(item)

    async def receive(self):
        item = await self._inner.receive()
        self._note(">", item)
        return item

    def __aiter__(self):
        return self

    async def __anext__(self):
        item = await self._inner.__anext__()
        self._note(">", item)
        return item

    async def __aenter__(self):
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *error):
        return await self._inner.__aexit__(*error)


def check_transcript(transcript):
    """Every line a message, each request answered once unless it was cancelled, and a clean end."""
    for kind, text in transcript.entries:
        if kind == ">":
            try:
                message = json.loads(text)
            except ValueError:
                raise AssertionError(f"the server's output holds what is no JSON: {text!r}") from None
            assert isinstance(message, dict) and message.get("jsonrpc") == "2.0", f"no message: {text!r}"
            assert text.endswith("\n"), f"the last line is cut off: {text!r}"
    asked = [message["id"] for message in transcript.sent() if "method" in message and "id" in message]
    listening = [message["id"] for message in transcript.sent() if message.get("method") == "subscriptions/listen"]
    answered = [message.get("id") for message in transcript.received() if "method" not in message]
    cancelled = transcript.cancelled()
    for id in answered:
        assert id in asked, f"an answer to {id!r}, which nobody asked"
        assert answered.count(id) == 1, f"{answered.count(id)} answers to {id!r}"
    for id in asked:
        # a client ends a subscription by going away, which is no message over HTTP
        assert id in answered or id in cancelled or id in listening, f"no answer to {id!r}"
    last = transcript.entries[-1]
    assert last == ["exit", 0], f"the server did not end with 0: {last}"


def text_of(result):
    """The text of a result whose content is one block of text."""
    assert len(result.content) == 1, f"one block was expected: {result.content}"
    assert isinstance(result.content[0], types.TextContent), f"text was expected: {result.content}"
    return result.content[0].text


def _leaves(error):
    """The exceptions at the bottom of a group: task groups wrap what a scenario raises."""
    inner = getattr(error, "exceptions", None)
    return [leaf for each in inner for leaf in _leaves(each)] if inner else [error]


async def _run_one(function):
    await asyncio.wait_for(function(), PATIENCE)


def main():
    """Runs every registered scenario; ends with the count and with 1 if one failed."""
    if len(sys.argv) != 2 and not (len(sys.argv) == 3 and over_http()):
        sys.exit(f"usage: {sys.argv[0]} PROGRAM [--http]")
    failed = 0
    for sentence, function in _scenarios:
        begun = time.monotonic()
        try:
            asyncio.run(_run_one(function))
        except Exception as error:  # the one place where a scenario's fault ends
            failed += 1
            print(f"FAIL {sentence}")
            for leaf in _leaves(error):
                where = traceback.extract_tb(leaf.__traceback__)[-1:]
                at = "".join(f" ({Path(frame.filename).name}:{frame.lineno}: {frame.line})" for frame in where)
                print(f"     {type(leaf).__name__}: {leaf}{at}")
        else:
            print(f"ok   {sentence} ({time.monotonic() - begun:.1f} s)")
        sys.stdout.flush()
    print(f"{len(_scenarios) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
