#!/usr/bin/env node
import * as nodeModule from 'node:module';
import { join } from 'node:path';

// By default, Node.js opens its debugger at this signal: whoever reaches its port runs code in this process.
process.on('SIGUSR1', () => undefined);

// Node.js has this cache since 22.1, and runs the code that it finds there. Any user of the host can write to the default
// directory below /tmp. Whoever can write to this directory can also change the packages.
const CACHE = join(__dirname, '../../../../node_modules/.cache/leaf-server');

// Before anything else is loaded, so that the cache includes it. Without the right to write, there is no cache. If
// NODE_COMPILE_CACHE is set, Node.js already uses that directory.
const { enableCompileCache } = nodeModule as { readonly enableCompileCache?: (directory: string) => unknown };
enableCompileCache?.(CACHE);
void import('./program.js').then(({ main }) => main(process.argv.slice(2)));
