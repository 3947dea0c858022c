"""What the client scenarios share: a connection with a transcript, and a runner that counts.

A scenario is an async function under `@scenario("a sentence")`. It opens connections with `connect`, and says what
must hold with `assert`. After each connection the transcript is checked too (`check_transcript`): whatever a scenario
is about, the server must have ended with 0 once its input closed, and its output must hold messages and nothing else.
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


@asynccontextmanager
async def connect(**callbacks):
    """A client of the handshake era, connected to the program under test, and the transcript."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "transcript"
        server = StdioServerParameters(command=sys.executable, args=[str(RELAY), str(log), sys.argv[1]])
        transcript = Transcript()
        # No cache: a scenario that lists twice wants to hear the server twice.
        async with Client(server, mode="legacy", cache=None, **callbacks) as client:
            yield client, transcript
        transcript.read(log)
    check_transcript(transcript)


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
    answered = [message.get("id") for message in transcript.received() if "method" not in message]
    cancelled = transcript.cancelled()
    for id in answered:
        assert id in asked, f"an answer to {id!r}, which nobody asked"
        assert answered.count(id) == 1, f"{answered.count(id)} answers to {id!r}"
    for id in asked:
        assert id in answered or id in cancelled, f"no answer to {id!r}"
    last = transcript.entries[-1]
    assert last == ["exit", 0], f"the server did not end with 0 when its input closed: {last}"


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
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} PROGRAM")
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
