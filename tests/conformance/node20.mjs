// Lets the suite run on a Node older than 22: `node --import ./node20.mjs SUITE`.
//
// The suite's bundle imports `globSync` from `fs`, which those Nodes lack, for a command that is not used here. It gets
// an `fs` that has one, and that throws. This file is both sides: on the main thread it registers itself as the hooks
// that Node runs on a thread of their own.

import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';

const FS = 'suite:fs';

export async function resolve(specifier, context, next) {
  if (specifier === 'fs' && context.parentURL?.includes('conformance')) {
    return { url: FS, format: 'module', shortCircuit: true };
  }
  return next(specifier, context);
}

export async function load(url, context, next) {
  if (url !== FS) return next(url, context);
  const source = `
    export * from 'node:fs';
    export { default } from 'node:fs';
    export const globSync = () => { throw new Error('globSync needs Node 22'); };`;
  return { format: 'module', source, shortCircuit: true };
}

if (isMainThread) register(import.meta.url);
