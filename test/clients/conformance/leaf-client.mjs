// LeafClient as a program for the conformance script; it needs the build: node scripts/ensure-build.mjs
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';

const { LeafClient } = createRequire(import.meta.url)('../../../dist/libs/client/src/index.js');
const [url, token, windowMs] = process.argv.slice(2);
const client = new LeafClient({ servers: [url], snowflake: { mode: 'window', token, windowMs: Number(windowMs) } });
let stopping = false;
process.on('SIGTERM', () => (stopping = true));
while (!stopping) {
  const id = client.trySnowflakeString();
  if (id !== undefined) console.log(id);
  await sleep(1);
}
await client.close();
