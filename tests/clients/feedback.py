"""feedback.py PROGRAM [--http]: the official Python client drives the example `feedback`, over stdio or HTTP."""

import anyio
import mcp_types as types
from harness import connect, main, scenario, text_of


def answering(action, content=None):
    """An elicitation callback that always answers so, and the list of what it was asked."""
    asked = []

    async def elicit(_context, params):
        asked.append(params)
        return types.ElicitResult(action=action, content=content)

    return elicit, asked


def assert_every_step(values, total):
    """Asserts that `values` go from 1 to `total` one by one."""
    assert values == list(range(1, total + 1)), values


@scenario("all progress of a call arrives, in order, with its total and words, before the answer")
async def progress():
    seen = []

    async def on_progress(progress, total, message):
        seen.append((progress, total, message))

    async with connect() as (client, transcript):
        result = await client.call_tool("countdown", {"from": 20, "ms": 0}, progress_callback=on_progress)
        assert not result.is_error, result
    values = [value for value, _, _ in seen]
    assert_every_step(values, 20)
    assert {total for _, total, _ in seen} == {20}, seen
    assert all(message for _, _, message in seen), seen
    [id] = transcript.call_ids("countdown")
    assert [note["progress"] for note in transcript.progress_of(id)] == values, "a notification was lost on the way"
    last = [message for message in transcript.received() if message.get("id") == id or "method" in message][-1]
    assert last.get("id") == id, f"said after the answer: {last}"


@scenario("a call without a progress token gets no progress")
async def no_token():
    async with connect() as (client, transcript):
        assert not (await client.call_tool("countdown", {"from": 3, "ms": 0})).is_error
    assert [message for message in transcript.received() if "method" in message] == [], transcript.received()


@scenario("two calls at once hear each its own progress")
async def own_progress():
    seen = {5: [], 8: []}

    async def count(client, start):
        async def on_progress(progress, total, _message):
            seen[start].append((progress, total))

        result = await client.call_tool("countdown", {"from": start, "ms": 1}, progress_callback=on_progress)
        assert not result.is_error, result

    async with connect() as (client, _):
        async with anyio.create_task_group() as group:
            for start in seen:
                group.start_soon(count, client, start)
    for start, heard in seen.items():
        assert_every_step([value for value, _ in heard], start)
        assert {total for _, total in heard} == {start}, seen


@scenario("a cancelled call stops without an answer, and the session goes on")
async def cancelling():
    begun = anyio.Event()

    async def on_progress(_progress, _total, _message):
        begun.set()

    async with connect() as (client, transcript):
        async with anyio.create_task_group() as group:

            async def count():
                await client.call_tool("countdown", {"from": 100000, "ms": 1}, progress_callback=on_progress)
                raise AssertionError("the cancelled call was answered")

            group.start_soon(count)
            await begun.wait()
            group.cancel_scope.cancel()
        # The server has read the cancellation before this, and what it would still say of the first call, were it
        # alive, it would say during this.
        assert not (await client.call_tool("countdown", {"from": 20, "ms": 1})).is_error
        assert not (await client.call_tool("countdown", {"from": 20, "ms": 1})).is_error
    first, second, _ = transcript.call_ids("countdown")
    assert transcript.cancelled() == [first], transcript.sent()
    received = transcript.received()
    assert not [message for message in received if message.get("id") == first], "the cancelled call was answered"
    fence = next(at for at, message in enumerate(received) if message.get("id") == second)
    late = [m for m in received[fence:] if m.get("method") == "notifications/progress"]
    assert not late, f"the cancelled call went on: {late[:3]}"


@scenario("a form is asked for, and what the user fills in reaches the tool")
async def accepting():
    elicit, asked = answering("accept", {"quantity": 3})
    async with connect(elicitation_callback=elicit) as (client, _):
        result = await client.call_tool("confirm_order", {"item": "tea"})
        assert not result.is_error, result
        assert "3" in text_of(result) and "tea" in text_of(result), result
    [form] = asked
    assert "tea" in form.message, form
    assert form.requested_schema["type"] == "object" and form.requested_schema["properties"], form


@scenario("a user who declines is told apart from one who closes the form")
async def refusing():
    texts = []
    for action in ("decline", "cancel"):
        elicit, asked = answering(action)
        async with connect(elicitation_callback=elicit) as (client, _):
            texts.append(text_of(await client.call_tool("confirm_order", {"item": "tea"})))
        assert len(asked) == 1, asked
    assert texts[0] != texts[1], texts


@scenario("what does not fit the form is an error of the tool that names the field")
async def misfit():
    for quantity in ("many", 0, 100):
        elicit, _ = answering("accept", {"quantity": quantity})
        async with connect(elicitation_callback=elicit) as (client, _):
            result = await client.call_tool("confirm_order", {"item": "tea"})
            assert result.is_error and "quantity" in text_of(result), result


@scenario("a client that cannot show a form is never asked, and the tool says why")
async def incapable():
    async with connect() as (client, transcript):
        result = await client.call_tool("confirm_order", {"item": "tea"})
        assert result.is_error and "elicitation" in text_of(result), result
        result = await client.call_tool("summarize", {"text": "long"})
        assert result.is_error and "sampling" in text_of(result), result
    assert not [message for message in transcript.received() if "method" in message], transcript.received()


@scenario("the client's model is asked, and what it writes reaches the tool")
async def sampling():
    asked = []

    async def sample(_context, params):
        asked.append(params)
        content = types.TextContent(type="text", text="in short: tea")
        return types.CreateMessageResult(role="assistant", model="m", content=content, stop_reason="endTurn")

    async with connect(sampling_callback=sample) as (client, _):
        result = await client.call_tool("summarize", {"text": "a long text about tea"})
        assert not result.is_error, result
        assert "in short: tea" in text_of(result), result
    [request] = asked
    assert "a long text about tea" in request.messages[0].content.text, request
    assert request.max_tokens > 0, request


@scenario("while one call waits for its user, others are answered")
async def waiting():
    shown, go_on = anyio.Event(), anyio.Event()

    async def elicit(_context, _params):
        shown.set()
        await go_on.wait()
        return types.ElicitResult(action="accept", content={"quantity": 1})

    async with connect(elicitation_callback=elicit) as (client, _):

        async def order():
            assert not (await client.call_tool("confirm_order", {"item": "tea"})).is_error

        async with anyio.create_task_group() as group:
            group.start_soon(order)
            await shown.wait()
            assert not (await client.call_tool("countdown", {"from": 1, "ms": 0})).is_error
            go_on.set()


@scenario("a call that is cancelled while its user is asked takes the question back")
async def taking_back():
    shown, withdrawn = anyio.Event(), anyio.Event()

    async def elicit(_context, _params):
        shown.set()
        try:
            await anyio.sleep_forever()
        finally:
            withdrawn.set()

    async with connect(elicitation_callback=elicit) as (client, transcript):
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "confirm_order", {"item": "tea"})
            await shown.wait()
            group.cancel_scope.cancel()
        await withdrawn.wait()
        assert not (await client.call_tool("countdown", {"from": 1, "ms": 0})).is_error
    [question] = [m["id"] for m in transcript.received() if m.get("method") == "elicitation/create"]
    taken = [m["params"] for m in transcript.received() if m.get("method") == "notifications/cancelled"]
    assert [params["requestId"] for params in taken] == [question], taken


@scenario("who subscribed to a resource is told that it changed, until it unsubscribes")
async def subscription():
    heard = []
    told = anyio.Event()

    async def on_message(message):
        if isinstance(message, types.ResourceUpdatedNotification):
            heard.append(str(message.params.uri))
            told.set()

    async with connect(message_handler=on_message) as (client, transcript):
        await client.call_tool("restock")
        await client.session.subscribe_resource("shop://stock")
        await client.call_tool("restock")
        await told.wait()
        await client.session.unsubscribe_resource("shop://stock")
        await client.call_tool("restock")
    updates = [m for m in transcript.received() if m.get("method") == "notifications/resources/updated"]
    assert heard == ["shop://stock"] and len(updates) == 1, updates


@scenario("what a tool logs arrives at the level that was asked for")
async def logging():
    heard = []

    async def on_log(params):
        heard.append((params.level, params.data))

    elicit, _ = answering("accept", {"quantity": 3})
    async with connect(elicitation_callback=elicit, logging_callback=on_log) as (client, transcript):
        await client.session.set_logging_level("warning")
        await client.call_tool("confirm_order", {"item": "tea"})
        assert heard == [], heard
        await client.session.set_logging_level("info")
        await client.call_tool("confirm_order", {"item": "tea"})
    logs = [m["params"] for m in transcript.received() if m.get("method") == "notifications/message"]
    assert [log["level"] for log in logs] == ["info"], logs
    assert [(log["level"], log["data"]) for log in logs] == heard, heard


@scenario("each resource is listed and read, each prompt is listed and got")
async def resources_and_prompts():
    async with connect() as (client, _):
        resources = (await client.list_resources()).resources
        assert resources, "no resource"
        for resource in resources:
            contents = (await client.read_resource(resource.uri)).contents
            assert contents and contents[0].uri == resource.uri, contents
        prompts = (await client.list_prompts()).prompts
        assert prompts, "no prompt"
        for prompt in prompts:
            arguments = {argument.name: "tea" for argument in prompt.arguments or []}
            messages = (await client.get_prompt(prompt.name, arguments)).messages
            assert messages, prompt


if __name__ == "__main__":
    main()
