import * as nodeModule from 'node:module';

// Has an effect when it is imported, and has to be the first import of all: what is loaded after it need not be compiled
// again at the next start. Node.js has this from 22.1 on, and goes without where it cannot write.
const { enableCompileCache } = nodeModule as { readonly enableCompileCache?: () => unknown };
enableCompileCache?.();
