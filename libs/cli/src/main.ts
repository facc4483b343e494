#!/usr/bin/env node
import { codeOf, packageVersion } from '@leaf-ids/core/internal';
import { runLeaf } from './leaf';
import { PROCESS_TERMINAL } from './program';

// A reader such as `head` may close the pipe.
process.stdout.on('error', (error) => {
  if (codeOf(error) !== 'EPIPE') throw error;
});

const options = { terminal: PROCESS_TERMINAL, env: process.env, version: packageVersion(__dirname) };
void runLeaf(process.argv.slice(2), options).then((code) => {
  process.exitCode = code;
});
