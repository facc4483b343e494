import { systemRandom } from '@leaf-ids/core/internal';
import { FakeClock } from '@leaf-ids/core/testing';
import { LeafClient } from '@leaf-ids/client';
import { FakeLeaf, problem, send } from '../../support/fakes/fake-leaf';

describe('the client without prefetch', () => {
  let leaf: FakeLeaf;
  let client: LeafClient;

  beforeEach(async () => {
    leaf = await FakeLeaf.start();
    client = new LeafClient({ servers: [leaf.url], prefetch: false }, new FakeClock(), systemRandom);
  });
  afterEach(async () => {
    await client.close();
    await leaf.stop();
  });

  it('sends one request for what each call returns', async () => {
    expect(await client.nextId('order')).toBe(1n);
    expect(await client.nextIds('order', 3)).toEqual([2n, 3n, 4n]);
    expect(await client.nextRanges('order', 250)).toEqual([{ from: 5n, to: 254n }]);
    expect(await client.snowflakeStrings(2)).toEqual(['255', '256']);
    expect(leaf.requests.map(({ route, size }) => [route, size])).toEqual([
      ['range', 1],
      ['range', 3],
      ['range', 250],
      ['batch', 2],
    ]);
    expect(await client.close()).toEqual({ tags: new Map(), snowflakes: 0 });
  });

  it('gives the IDs of a strict tag to the call that requested them', async () => {
    leaf.answer = (response, sound) => send(response, 200, { ...(sound as object), order: 'strict' });
    expect(await Promise.all([client.nextIds('order', 2), client.nextIds('order', 2)])).toEqual([
      [1n, 2n],
      [3n, 4n],
    ]);
    expect(leaf.requests).toHaveLength(2);
  });

  it('has no ID without waiting', () => {
    expect([client.tryNext('order'), client.trySnowflakeString()]).toEqual([undefined, undefined]);
    expect(() => client.snowflake()).toThrow(expect.objectContaining({ code: 'LEAF_NOT_READY' }));
    expect(leaf.requests).toStrictEqual([]);
  });

  it('passes a refusal on', async () => {
    leaf.answer = (response) => problem(response, 404, 'LEAF_TAG_NOT_FOUND');
    await expect(client.nextId('order')).rejects.toMatchObject({ code: 'LEAF_TAG_NOT_FOUND' });
    await expect(client.nextId('a/b')).rejects.toMatchObject({ code: 'LEAF_TAG_INVALID' });
    await expect(client.nextIds('order', 0)).rejects.toMatchObject({ code: 'LEAF_SIZE_INVALID' });
    await client.close();
    await expect(client.nextId('order')).rejects.toMatchObject({ code: 'LEAF_NOT_READY' });
    await expect(client.snowflakes(1)).rejects.toMatchObject({ code: 'LEAF_NOT_READY' });
  });
});
