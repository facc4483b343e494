#!/usr/bin/env node
import * as nodeModule from 'node:module';

// Before anything else is loaded, so that the cache includes it. Node.js has this cache since 22.1.
const { enableCompileCache } = nodeModule as { readonly enableCompileCache?: () => unknown };
enableCompileCache?.();
void import('./program.js').then(({ main }) => main(process.argv.slice(2)));
