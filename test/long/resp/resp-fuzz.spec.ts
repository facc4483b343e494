import { fuzz } from '../../support/resp-fuzz';
import { startTestServer } from '../../support/servers/server';

/** `STREAMS=1000000 npm run test:long -- test/long/resp` takes about half an hour. */
const STREAMS = Number(process.env.STREAMS ?? 50_000);
const WARM_UP = 10_000;
const MAX_GROWTH = 100 * 2 ** 20;

it(`${STREAMS} streams of any bytes get replies in order, and the memory does not grow`, async () => {
  const { server, stop } = await startTestServer({ LEAF_RESP_PORT: '0' });
  const seed = Date.now();
  console.log(`seed ${seed}`);
  try {
    await fuzz(server.respPort!, WARM_UP, seed);
    const before = process.memoryUsage.rss();
    expect(await fuzz(server.respPort!, STREAMS, seed + WARM_UP)).toBeGreaterThan(STREAMS);
    expect(process.memoryUsage.rss() - before).toBeLessThan(MAX_GROWTH);
  } finally {
    await stop();
  }
}, 3_600_000);
