// node typescript.mjs CALCULATOR FEEDBACK [--http]: the official TypeScript client drives both examples, over stdio or
// HTTP, in legacy mode. Its scenarios are few: what the Python client's already show is not shown again, what depends on the client is.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const [calculator, feedback, way] = process.argv.slice(2);
const { PYTHON, RELAY } = process.env; // relay.py notes how the server ended, which the transport does not tell
const PATIENCE = 60_000; // ms a scenario may hang before it has failed; nothing is measured by it

/** Starts `program` on a port of its own. Gives the client's transport, and what closes it and gives the server's messages. */
async function http(program) {
  const server = spawn(program, ['--http', '127.0.0.1:0'], { stdio: ['ignore', 'inherit', 'pipe'] });
  const exit = once(server, 'exit');
  const [line] = await once(createInterface(server.stderr), 'line');
  const transport = new StreamableHTTPClientTransport(new URL(line.replace('MCP at ', '')));
  const received = [];
  const end = async (client) => {
    await transport.terminateSession();
    await client.close();
    server.kill('SIGTERM');
    assert.deepEqual(await exit, [0, null], 'the server did not end with 0 on SIGTERM');
    return received;
  };
  return { transport, received, end, kill: () => server.kill('SIGKILL') };
}

/** The same over stdio, where the client starts the program, with the relay in between. */
async function stdio(program) {
  const folder = mkdtempSync(join(tmpdir(), 'client-'));
  const log = join(folder, 'transcript');
  const transport = new StdioClientTransport({ command: PYTHON, args: [RELAY, log, program, '--stdio'] });
  const end = async (client) => {
    await client.close();
    const entries = readFileSync(log, 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line));
    assert.deepEqual(entries.pop(), ['exit', 0], 'the server did not end with 0 when its input closed');
    return entries.filter(([side]) => side === '>').map(([, text]) => JSON.parse(text));
  };
  return { transport, end, kill: () => rmSync(folder, { recursive: true }) };
}

/**
 * Connects to `program`, runs `body` with the client, closes, and expects that the server ended with 0. Returns the
 * server's messages.
 */
async function connected(program, handlers, body) {
  const { transport, received, end, kill } = await (way === '--http' ? http : stdio)(program);
  try {
    const capabilities = {};
    if (handlers['elicitation/create']) capabilities.elicitation = { form: {} };
    if (handlers['sampling/createMessage']) capabilities.sampling = {};
    const client = new Client({ name: 'typescript', version: '1' }, { capabilities, versionNegotiation: { mode: 'legacy' } });
    const faults = [];
    client.onerror = (error) => {
      // A line that is no message, an answer to nothing. Not progress that was under way when the call ended: this
      // client forgets a call's token as soon as it has read the answer, before it has delivered what it read earlier.
      if (!/progress notification for an unknown token/.test(error.message)) faults.push(error);
    };
    for (const [method, handler] of Object.entries(handlers)) client.setRequestHandler(method, handler);
    await client.connect(transport);
    const { onmessage } = transport;
    transport.onmessage = (message, extra) => {
      received?.push(message);
      onmessage(message, extra);
    };
    await body(client);
    const messages = await end(client);
    assert.deepEqual(faults, [], 'the client met what it could not read');
    return messages;
  } finally {
    kill();
  }
}

const scenarios = {
  'a client shakes hands, lists the tools, calls them and reads their errors': () =>
    connected(calculator, {}, async (client) => {
      assert.equal(client.getServerVersion().name, 'calculator');
      const { tools } = await client.listTools();
      assert.ok(tools.some((tool) => tool.name === 'add'));
      const sum = await client.callTool({ name: 'add', arguments: { a: 2, b: 40 } });
      assert.deepEqual(sum.content, [{ type: 'text', text: '42' }]);
      assert.equal((await client.callTool({ name: 'divide', arguments: { a: 1, b: 0 } })).isError, true);
      await assert.rejects(client.callTool({ name: 'subtract', arguments: {} }), { code: -32602 });
    }),

  'progress of a call arrives in order, and all of it is sent before the answer': async () => {
    const seen = [];
    const received = await connected(feedback, {}, async (client) => {
      const onprogress = (note) => seen.push(note);
      const result = await client.callTool({ name: 'countdown', arguments: { from: 20, ms: 1 } }, { onprogress });
      assert.ok(!result.isError);
    });
    const sent = received.filter(({ method }) => method === 'notifications/progress').map(({ params }) => params);
    assert.equal(sent.at(-1).progress - sent[0].progress, sent.length - 1, 'progress goes up one by one');
    assert.ok(sent.length >= 20 && seen.length > 0, `${sent.length} sent, ${seen.length} seen`);
    assert.ok(received.at(-1).result, 'the answer is not the last message');
    sent.slice(0, seen.length).forEach(({ progress, total, message }, at) => {
      assert.deepEqual(seen[at], { progress, total, message });
      assert.equal(total, 20);
    });
  },

  'a cancelled call is left behind, and the session goes on': () =>
    connected(feedback, {}, async (client) => {
      const stop = new AbortController();
      const onprogress = () => stop.abort('enough');
      const call = client.callTool({ name: 'countdown', arguments: { from: 100000, ms: 1 } }, { onprogress, signal: stop.signal });
      await assert.rejects(call);
      assert.ok(!(await client.callTool({ name: 'countdown', arguments: { from: 3, ms: 0 } })).isError);
    }),

  'a form and a question to the model are answered inside the call': async () => {
    const asked = [];
    const handlers = {
      'elicitation/create': async ({ params }) => {
        asked.push(params.message);
        return { action: 'accept', content: { quantity: 3 } };
      },
      'sampling/createMessage': async ({ params }) => {
        asked.push(params.messages[0].content.text);
        return { role: 'assistant', model: 'm', content: { type: 'text', text: 'in short: tea' } };
      },
    };
    await connected(feedback, handlers, async (client) => {
      const order = await client.callTool({ name: 'confirm_order', arguments: { item: 'tea' } });
      assert.ok(!order.isError && order.content[0].text.includes('3'), JSON.stringify(order));
      const summary = await client.callTool({ name: 'summarize', arguments: { text: 'a long text' } });
      assert.ok(!summary.isError && summary.content[0].text.includes('in short: tea'), JSON.stringify(summary));
    });
    assert.equal(asked.length, 2);
  },

  'each resource is read and each prompt is got': () =>
    connected(feedback, {}, async (client) => {
      const { resources } = await client.listResources();
      assert.ok(resources.length > 0);
      for (const { uri } of resources) assert.ok((await client.readResource({ uri })).contents.length > 0);
      const { prompts } = await client.listPrompts();
      assert.ok(prompts.length > 0);
      for (const prompt of prompts) {
        const args = Object.fromEntries((prompt.arguments ?? []).map(({ name }) => [name, 'tea']));
        assert.ok((await client.getPrompt({ name: prompt.name, arguments: args })).messages.length > 0);
      }
    }),
};

let failed = 0;
for (const [sentence, run] of Object.entries(scenarios)) {
  let timer;
  const guard = new Promise((_, reject) => (timer = setTimeout(() => reject(new Error('it hangs')), PATIENCE)));
  try {
    await Promise.race([run(), guard]);
    console.log(`ok   ${sentence}`);
  } catch (error) {
    failed += 1;
    console.log(`FAIL ${sentence}\n     ${error.stack ?? error}`);
  } finally {
    clearTimeout(timer);
  }
}
console.log(`${Object.keys(scenarios).length - failed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
