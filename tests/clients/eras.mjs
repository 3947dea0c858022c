// node eras.mjs EVERYTHING: the official TypeScript client drives the example `everything` over HTTP in each of its modes.
//
// `legacy` opens with the handshake, `2026-07-28` lets each request speak for itself, `auto` asks the server first. The
// same things must work in all of them.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const MODES = ['legacy', 'auto', '2026-07-28'];
const PATIENCE = 60_000; // ms a scenario may hang before it has failed; nothing is measured by it
const [program] = process.argv.slice(2);
const text = ({ content }) => content[0].text;

const server = spawn(program, ['--http', '127.0.0.1:0'], { stdio: ['ignore', 'pipe', 'inherit'] });
const ended = once(server, 'exit');
process.on('exit', () => server.kill('SIGKILL'));
const [url] = await once(createInterface(server.stdout), 'line');

async function connected(mode, body) {
  const capabilities = { elicitation: { form: {} }, sampling: {} };
  const negotiation = /^\d/.test(mode) ? { pin: mode } : mode;
  const client = new Client({ name: 'eras', version: '1' }, { capabilities, versionNegotiation: { mode: negotiation } });
  client.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: { x: 'tea' } }));
  client.setRequestHandler('sampling/createMessage', async () => ({
    role: 'assistant', model: 'm', content: { type: 'text', text: 'pong' },
  }));
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  try {
    await body(client);
  } finally {
    await client.close();
  }
}

const things = {
  'the client speaks the revision of its mode, lists the tools and calls them': async (client, mode) => {
    assert.equal(client.getNegotiatedProtocolVersion(), mode === 'legacy' ? '2025-11-25' : '2026-07-28');
    const { tools } = await client.listTools();
    assert.equal(tools[0].name, 'test_simple_text');
    assert.equal(text(await client.callTool({ name: 'echo', arguments: { text: 'tea' } })), 'tea');
    assert.equal((await client.callTool({ name: 'test_error_handling', arguments: {} })).isError, true);
  },
  'a parameter that has a header of its own arrives': async (client) => {
    assert.equal(text(await client.callTool({ name: 'region', arguments: { region: 'eu-w\u00e4st', n: 42 } })), 'region=eu-w\u00e4st n=42');
  },
  'progress of a call arrives': async (client) => {
    const seen = [];
    const onprogress = ({ progress }) => seen.push(progress);
    assert.equal(text(await client.callTool({ name: 'progress', arguments: { n: 5, ms: 20 } }, { onprogress })), 'done');
    // this client forgets a call's token as soon as it has read the answer, before it has delivered what it read earlier
    assert.ok(seen.length > 0);
    assert.deepEqual(seen, [1, 2, 3, 4, 5].slice(0, seen.length));
  },
  'a tool asks the user, and is given what they fill in': async (client) => {
    assert.equal(text(await client.callTool({ name: 'ask', arguments: { target: 'two' } })), 'accept:tea:two');
  },
  'a tool asks the model, and is given what it says': async (client) => {
    assert.equal(text(await client.callTool({ name: 'sample', arguments: {} })), 'pong');
  },
  'a client that listens is told of a change, and the end is its own': async (client, mode) => {
    if (mode === 'legacy') return; // has no such request
    const told = new Promise((resolve) => client.setNotificationHandler('notifications/tools/list_changed', resolve));
    const subscription = await client.listen({ toolsListChanged: true });
    await client.callTool({ name: 'toggle', arguments: {} });
    await told;
    await subscription.close();
    assert.equal(await subscription.closed, 'local');
  },
  'resources are read and prompts are filled in': async (client) => {
    assert.equal((await client.readResource({ uri: 'mem://a' })).contents[0].text, 'content of mem://a');
    const { messages } = await client.getPrompt({ name: 'greet', arguments: { name: 'Alice' } });
    assert.equal(messages[0].content.text, 'Hello Alice');
  },
};

let failed = 0;
let passed = 0;
for (const mode of MODES) {
  for (const [sentence, body] of Object.entries(things)) {
    let timer;
    const guard = new Promise((_, reject) => (timer = setTimeout(() => reject(new Error('it hangs')), PATIENCE)));
    try {
      await Promise.race([connected(mode, (client) => body(client, mode)), guard]);
      passed += 1;
      console.log(`ok   mode ${mode}: ${sentence}`);
    } catch (error) {
      failed += 1;
      console.log(`FAIL mode ${mode}: ${sentence}\n     ${error.stack ?? error}`);
    } finally {
      clearTimeout(timer);
    }
  }
}
server.kill('SIGTERM');
const [code] = await ended;
if (code !== 0) {
  failed += 1;
  console.log(`FAIL the server ended with ${code} on SIGTERM`);
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
