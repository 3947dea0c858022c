"""calculator.py PROGRAM [--http]: the official Python client drives the example `calculator`, over stdio or HTTP."""

import asyncio

from harness import connect, main, scenario, text_of
from mcp.shared.exceptions import MCPError


@scenario("a client shakes hands at 2025-11-25 and learns who the server is")
async def handshake():
    async with connect() as (client, _):
        assert client.protocol_version == "2025-11-25", client.protocol_version
        assert (client.server_info.name, client.server_info.version) == ("calculator", "1.0.0"), client.server_info
        assert client.server_capabilities.tools is not None, client.server_capabilities


@scenario("the tools are listed with their description and the schema of their arguments")
async def listing():
    async with connect() as (client, _):
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) >= {"add", "divide"}, list(tools)
        add = tools["add"]
        assert add.description, "add has no description"
        assert add.input_schema["type"] == "object", add.input_schema
        assert sorted(add.input_schema["required"]) == ["a", "b"], add.input_schema
        assert add.input_schema["properties"]["a"]["type"] == "integer", add.input_schema


@scenario("a tool is called and answers")
async def calling():
    async with connect() as (client, _):
        result = await client.call_tool("add", {"a": 2, "b": 40})
        assert not result.is_error, result
        assert text_of(result) == "42", result
        result = await client.call_tool("divide", {"a": 1, "b": 4})
        assert text_of(result) == "0.25", result


@scenario("a tool that fails answers with an error that the model can read")
async def failing():
    async with connect() as (client, _):
        result = await client.call_tool("divide", {"a": 1, "b": 0})
        assert result.is_error, result
        assert "zero" in text_of(result), result
        result = await client.call_tool("add", {"a": 2**63 - 1, "b": 1})
        assert result.is_error and "too large" in text_of(result), result


@scenario("arguments of the wrong type are an error that names the argument, and the tool does not run")
async def mistyped():
    async with connect() as (client, _):
        result = await client.call_tool("add", {"a": 2, "b": "forty"})
        assert result.is_error, result
        assert "b" in text_of(result).replace("`", " ").split(), result
        result = await client.call_tool("add", {"a": 2})
        assert result.is_error, result


@scenario("an unknown tool is the protocol's error -32602, and the session goes on")
async def unknown():
    async with connect() as (client, _):
        try:
            result = await client.call_tool("subtract", {"a": 2, "b": 1})
        except MCPError as error:
            assert error.code == -32602, error
            assert "subtract" in error.message, error
        else:
            raise AssertionError(f"answered: {result}")
        assert text_of(await client.call_tool("add", {"a": 1, "b": 1})) == "2"


@scenario("two hundred calls at once get each its own answer")
async def many():
    async with connect() as (client, _):
        calls = [client.call_tool("add", {"a": number, "b": 1000}) for number in range(200)]
        sums = [text_of(result) for result in await asyncio.gather(*calls)]
        assert sums == [str(number + 1000) for number in range(200)], sums


@scenario("a connection that is closed at once ends the server, too")
async def closing():
    async with connect() as (_, transcript):
        pass
    assert [message.get("method") for message in transcript.sent()] == ["initialize", "notifications/initialized"]


if __name__ == "__main__":
    main()
