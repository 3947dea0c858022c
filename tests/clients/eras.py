"""eras.py PROGRAM [--http]: the official Python client drives the example `everything` in each of its modes.

`legacy` opens with the handshake, `2026-07-28` lets each request speak for itself, `auto` asks the server first. The same
things must work in all of them; what a mode calls them by is the client's.
"""

import asyncio

import mcp_types as types
from harness import connect, main, scenario, text_of

MODES = ["legacy", "auto", "2026-07-28"]


async def elicit(_context, params):
    """A user who gives whatever any of the forms asks for."""
    return types.ElicitResult(action="accept", content={"name": "Alice", "x": "tea"})


async def sample(_context, _params):
    """A model that always says the same."""
    return types.CreateMessageResult(role="assistant", model="m", content=types.TextContent(type="text", text="pong"))


def in_each_mode(sentence):
    """Registers an async function of a mode once for each."""

    def register(function):
        for mode in MODES:
            scenario(f"mode {mode}: {sentence}")(lambda mode=mode: function(mode))
        return function

    return register


def is_stateless(client):
    return str(client.protocol_version) >= "2026"


@in_each_mode("the client speaks the revision of its mode, lists the tools and calls them")
async def calls(mode):
    async with connect(mode=mode) as (client, _):
        assert is_stateless(client) == (mode != "legacy"), client.protocol_version
        # pinned, this client asks nothing before the first call
        assert mode == "2026-07-28" or client.server_info.name == "everything", client.server_info
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names[0] == "test_simple_text" and "echo" in names, names
        assert text_of(await client.call_tool("echo", {"text": "tea"})) == "tea"
        assert (await client.call_tool("test_error_handling", {})).is_error


@in_each_mode("progress of a call arrives in order, before its answer")
async def progress(mode):
    seen = []

    async def on_progress(progress, total, _message):
        seen.append((progress, total))

    async with connect(mode=mode) as (client, _):
        result = await client.call_tool("progress", {"n": 20, "ms": 1}, progress_callback=on_progress)
        assert text_of(result) == "done"
    assert seen == [(at, 20) for at in range(1, 21)], seen


@in_each_mode("a tool asks the user, and is given what they fill in")
async def eliciting(mode):
    async with connect(mode=mode, elicitation_callback=elicit) as (client, _):
        assert text_of(await client.call_tool("ask", {"target": "two"})) == "accept:tea:two"


@in_each_mode("a tool asks the model, and is given what it says")
async def sampling(mode):
    async with connect(mode=mode, sampling_callback=sample) as (client, _):
        assert text_of(await client.call_tool("sample", {})) == "pong"


@in_each_mode("resources are read and prompts are filled in")
async def reading(mode):
    async with connect(mode=mode) as (client, _):
        [contents] = (await client.read_resource("mem://item/7")).contents
        assert contents.text == "content of mem://item/7", contents
        [message] = (await client.get_prompt("greet", {"name": "Alice"})).messages
        assert message.content.text == "Hello Alice", message


async def listening(mode):
    async with connect(mode=mode) as (client, transcript):
        async with client.listen(tools_list_changed=True) as subscription:
            assert not (await client.call_tool("touch", {"uri": "mem://a"})).is_error
            assert not (await client.call_tool("toggle", {})).is_error
            event = await asyncio.wait_for(anext(aiter(subscription)), 30)
            assert "tool" in type(event).__name__.lower(), event
    told = [message["method"] for message in transcript.received() if "method" in message]
    assert "notifications/resources/updated" not in told, told


for mode in MODES[1:]:
    scenario(f"mode {mode}: a client that listens is told of a change, and only of what it asked for")(
        lambda mode=mode: listening(mode)
    )


main()
