// Runs the official conformance suite against the example `everything`: `node run.mjs SERVER MODULES OUT`.
//
// SERVER is the program, MODULES the folder where the suite's packages are installed, OUT where its results go. Each leg
// is one version of the suite at one revision, strict: a check that fails or warns is a failure. Each leg ends in a line
// `N passed, N failed: which`. The server runs through all of them, and must end well when it is told to.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const PATIENCE = 300_000; // milliseconds a leg may take before it has failed; nothing is measured by it
const HERE = dirname(fileURLToPath(import.meta.url));
const ALPHA = '@modelcontextprotocol/conformance';
const STABLE = 'conformance-stable';
const LEGS = [
  { suite: ALPHA, revision: '2026-07-28' },
  { suite: ALPHA, revision: '2025-11-25' },
  { suite: ALPHA, revision: '2025-06-18' },
  { suite: ALPHA, revision: '2025-03-26' },
  { suite: STABLE },
  { suite: ALPHA, requirements: '2025-11-25' },
  { suite: ALPHA, requirements: '2026-07-28' },
];
// each is a SHOULD, so a suite that leaves one out reports no failure
const POLLING = ['server-sse-priming-event', 'server-sse-retry-field', 'server-sse-disconnect-resume'];

const [program, modules, out] = process.argv.slice(2);
const hook = process.versions.node.split('.')[0] < 22 ? ['--import', join(HERE, 'node20.mjs')] : [];

/** Runs a leg; gives its checks, and what else is wrong with it. */
async function run({ suite, revision, requirements }, url, name) {
  const folder = join(out, name);
  mkdirSync(folder, { recursive: true });
  const log = openSync(join(folder, 'log'), 'w');
  const args = [...hook, join(modules, 'node_modules', suite, 'dist/index.js'), 'server', '--url', url];
  if (requirements) args.push('--requirements', requirements);
  else args.push('--suite', 'all', '--expected-failures', join(HERE, 'strict.yml'));
  args.push('-o', join(folder, 'checks'));
  if (revision) args.push('--spec-version', revision);
  const leg = spawn(process.execPath, args, { stdio: ['ignore', log, log], timeout: PATIENCE });
  const [code, signal] = await once(leg, 'exit');
  const scenarios = readdirSync(join(folder, 'checks'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const checks = scenarios.flatMap(({ name }) => {
    const checks = JSON.parse(readFileSync(join(folder, 'checks', name, 'checks.json'), 'utf8'));
    return checks.map((check) => ({ ...check, scenario: name }));
  });
  return { checks, code: code ?? signal };
}

/** Counts a leg, and tells of each check that did not pass. */
function count(name, { checks, code }, polls, required) {
  const passed = checks.filter(({ status }) => status === 'SUCCESS');
  // of a set of requirements the suite knows which are required; its exit says so
  const fails = ({ status }) => !required && (status === 'FAILURE' || status === 'WARNING');
  const failed = checks.filter(fails);
  const wrong = failed.map((check) => `${check.status} ${check.scenario} ${check.id}: ${check.errorMessage ?? ''}`);
  if (polls) {
    const missing = POLLING.filter((id) => !passed.some((check) => check.id === id));
    wrong.push(...missing.map((id) => `${id} did not succeed`));
  }
  if (passed.length === 0) wrong.push('no check succeeded');
  if (code !== 0 && wrong.length === 0) wrong.push(`the suite ended with ${code}`);
  wrong.forEach((line) => console.log(`  ${line}`));
  console.log(`${passed.length} passed, ${wrong.length} failed: ${name}`);
}

const version = (suite) => JSON.parse(readFileSync(join(modules, 'node_modules', suite, 'package.json'), 'utf8')).version;

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const server = spawn(program, ['--http', '127.0.0.1:0'], { stdio: ['ignore', 'pipe', openSync(join(out, 'stderr'), 'w')] });
const ended = once(server, 'exit');
// whatever becomes of this script, the server does not outlive it
process.on('exit', () => server.kill('SIGKILL'));
const lines = createInterface({ input: server.stdout });
const first = await Promise.race([once(lines, 'line'), ended.then(([code]) => Promise.reject(new Error(`it ended with ${code}`)))]);
for (const leg of LEGS) {
  const what = [...(leg.revision ? ['at', leg.revision] : []), ...(leg.requirements ? ['requirements', leg.requirements] : [])];
  const name = [version(leg.suite), ...what].join(' ');
  // streams that a client can come back to are from 2025-11-25 on
  const polls = !leg.requirements && (!leg.revision || leg.revision === '2025-11-25');
  count(name, await run(leg, first[0], name.replaceAll(' ', '-')), polls, leg.requirements);
}
server.kill('SIGTERM');
const [code, signal] = await ended;
const well = code === 0 && !readFileSync(join(out, 'stderr'), 'utf8').includes('panicked');
if (!well) console.log(`  the server ended with ${code ?? signal}: ${readFileSync(join(out, 'stderr'), 'utf8')}`);
console.log(`${Number(well)} passed, ${Number(!well)} failed: the server ends when it is told to`);
