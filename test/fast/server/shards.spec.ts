import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { call, json, text } from '../../support/http/http';
import { startTestServer } from '../../support/servers/server';

it('a server on two databases has the tags of both and gives unused IDs back to each', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'leaf-e2e-shards-'));
  const urls = { a: `sqlite:${join(directory, 'a.sqlite')}`, b: `sqlite:${join(directory, 'b.sqlite')}` };
  const env = { LEAF_DATABASE_URLS: JSON.stringify(urls), LEAF_DATABASE_TAGS: '{"leaf-segment-test":"b"}' };
  try {
    for (const expected of ['1', '2']) {
      const { port, stop } = await startTestServer(env);
      try {
        expect(await text(port, '/api/segment/get/leaf-segment-test')).toBe(expected);
        expect(await json(port, '/health/ready')).toMatchObject({ status: 'ok' });
        expect(await json(port, '/api/tags')).toMatchObject([{ tag: 'leaf-segment-test', shard: 'b' }]);
        expect(await call(port, '/api/segment/get/none')).toMatchObject({ status: 404 });
      } finally {
        await stop();
      }
    }
  } finally {
    await rm(directory, { recursive: true });
  }
});
