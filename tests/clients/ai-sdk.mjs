// node ai-sdk.mjs CALCULATOR EVERYTHING: two versions of the client of the AI SDK drive examples over HTTP. The older one takes
// an event of a stream for a message only if it has the name that is the default one.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const VERSIONS = ['ai-sdk-mcp-1', 'ai-sdk-mcp-2']; // as package.json names them
const PATIENCE = 60_000; // ms a scenario may hang before it has failed; nothing is measured by it
const [calculator, everything] = process.argv.slice(2);

/** Starts `program` on a port of its own, connects a client of this version, and closes both. */
async function connected(version, program, body) {
  const { createMCPClient } = await import(version);
  const server = spawn(program, ['--http', '127.0.0.1:0'], { stdio: ['ignore', 'pipe', 'pipe'] });
  const exit = once(server, 'exit');
  try {
    // `everything` prints its URL on standard output, the others a line about it on standard error
    const [line] = await Promise.race([server.stdout, server.stderr].map((output) => once(createInterface(output), 'line')));
    const client = await createMCPClient({ transport: { type: 'http', url: line.replace('MCP at ', '') } });
    await body(await client.tools());
    await client.close();
    server.kill('SIGTERM');
    assert.deepEqual(await exit, [0, null], 'the server did not end with 0 on SIGTERM');
  } finally {
    server.kill('SIGKILL');
  }
}

const call = async (tool, args) => {
  const { content } = await tool.execute(args, { toolCallId: '1', messages: [] });
  return content[0].text;
};

const scenarios = {
  'a client lists the tools and calls them': (version) =>
    connected(version, calculator, async (tools) => {
      assert.ok('divide' in tools);
      assert.equal(await call(tools.add, { a: 2, b: 40 }), '42');
    }),

  'a call that is answered at once and one that is answered by a stream both arrive': (version) =>
    connected(version, everything, async (tools) => {
      assert.equal(await call(tools.echo, { text: 'tea' }), 'tea');
      assert.equal(await call(tools.slow, { ms: 500, tag: 'late' }), 'late');
      const both = ['a', 'b'].map((tag) => call(tools.slow, { ms: 500, tag }));
      assert.deepEqual(await Promise.all(both), ['a', 'b']);
    }),
};

let failed = 0;
let passed = 0;
for (const version of VERSIONS) {
  for (const [sentence, run] of Object.entries(scenarios)) {
    let timer;
    const guard = new Promise((_, reject) => (timer = setTimeout(() => reject(new Error('it hangs')), PATIENCE)));
    try {
      await Promise.race([run(version), guard]);
      passed += 1;
      console.log(`ok   ${version}: ${sentence}`);
    } catch (error) {
      failed += 1;
      console.log(`FAIL ${version}: ${sentence}\n     ${error.stack ?? error}`);
    } finally {
      clearTimeout(timer);
    }
  }
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
