import { admin, ADMIN_TOKEN } from '../../support/http/admin';
import { call, json, text } from '../../support/http/http';
import { startTestServer, type TestServer } from '../../support/servers/server';

let server: TestServer;
beforeAll(async () => (server = await startTestServer({ LEAF_ADMIN_TOKEN: ADMIN_TOKEN })));
afterAll(() => server.stop());

describe('settings of a tag over HTTP', () => {
  it('are kept, shown, and left out where there are none', async () => {
    const settings = { maxStep: 500, max: '999999', order: 'strict', reset: 'monthly', zone: 'Europe/Berlin' };
    const made = await admin(server.port, 'POST', '/api/tags', { tag: 'full', step: 100, ...settings });
    expect(made.status).toBe(201);
    expect(JSON.parse(made.body)).toMatchObject(settings);
    expect(await json(server.port, '/api/tags/full')).toEqual(JSON.parse(made.body));
    await admin(server.port, 'POST', '/api/tags', { tag: 'plain', step: 100 });
    const plain = await json<object>(server.port, '/api/tags/plain');
    expect(Object.keys(plain)).toEqual(['tag', 'maxId', 'step', 'description', 'updatedAt']);
    const interleave = { of: 3, remainder: 2, block: 10 };
    await admin(server.port, 'POST', '/api/tags', { tag: 'shared', step: 100, interleave });
    expect(await json(server.port, '/api/tags/shared')).toMatchObject({ interleave, maxId: '21' });
    expect(await text(server.port, '/api/segment/get/shared')).toBe('21');
  });

  it('bound the blocks of a call, and others are answered meanwhile', async () => {
    const small = { of: 2, remainder: 0, block: 1 };
    const large = { of: 2, remainder: 0, block: 1000 };
    await admin(server.port, 'POST', '/api/tags', { tag: 'small', interleave: small });
    await admin(server.port, 'POST', '/api/tags', { tag: 'large', interleave: large });
    const ranges = (tag: string) => call(server.port, `/api/segment/range/${tag}?size=1000000`);
    const [probe, refused, again, given] = await Promise.all([
      call(server.port, '/health/live'),
      ranges('small'),
      ranges('small'),
      ranges('large'),
    ]);
    expect([probe.status, refused.status, again.status, given.status]).toEqual([200, 400, 400, 200]);
    expect(refused.body).toContain('LEAF_SIZE_INVALID');
    expect((JSON.parse(given.body) as { ranges: unknown[] }).ranges).toHaveLength(1000);
    // What was loaded before the refusal is issued later.
    expect(await text(server.port, '/api/segment/get/small')).toBe('1');
  });

  it('let a tag give every ID up to its max, although a step is larger than the rest', async () => {
    await admin(server.port, 'POST', '/api/tags', { tag: 'short', step: 100, max: '150' });
    for (let id = 1; id <= 150; id++) expect(await text(server.port, '/api/segment/get/short')).toBe(String(id));
    expect((await call(server.port, '/api/segment/get/short')).body).toContain('LEAF_TAG_EXHAUSTED');
  });

  it('may change as far as they are bounds', async () => {
    await admin(server.port, 'POST', '/api/tags', { tag: 'bounds', step: 10, maxStep: 20, max: '100' });
    const change = (body: object): Promise<{ status: number; body: string }> =>
      admin(server.port, 'PATCH', '/api/tags/bounds', body);
    expect(JSON.parse((await change({ maxStep: 30, max: '200' })).body)).toMatchObject({ maxStep: 30, max: '200' });
    const bare = JSON.parse((await change({ maxStep: null, max: null })).body) as object;
    expect(bare).not.toHaveProperty('max');
    expect(bare).not.toHaveProperty('maxStep');
  });

  it.each([
    [{ order: 'relaxed' }, 'order cannot change'],
    [{ reset: 'daily' }, 'reset cannot change'],
    [{ zone: 'UTC' }, 'zone cannot change'],
    [{ interleave: { of: 2, remainder: 0, block: 1 } }, 'interleave cannot change'],
    [{ maxStep: 1 }, 'maxStep must not be less than step'],
    [{ max: '9223372036854775807' }, 'max must be a whole number'],
    [{}, 'changes nothing'],
  ])('refuses the change %j', async (body, reason) => {
    await admin(server.port, 'POST', '/api/tags', { tag: 'fixed', step: 10 });
    const answer = await admin(server.port, 'PATCH', '/api/tags/fixed', body);
    expect(answer.status).toBe(400);
    expect(answer.body).toContain(reason);
  });

  it.each([
    [{ order: 'any' }, 'order must be one of'],
    [{ reset: 'hourly' }, 'reset must be one of'],
    [{ zone: 'Europe/Berlin' }, 'zone requires reset'],
    [{ reset: 'daily', zone: 'Mars/Base' }, 'zone must be an IANA time zone'],
    [{ maxStep: 9 }, 'maxStep must not be less than step'],
    [{ maxStep: null }, 'maxStep must be a whole number'],
    [{ max: 5 }, 'max must be a decimal string'],
    [{ interleave: { of: 2, remainder: 2, block: 1 } }, 'interleave.remainder'],
    [{ interleave: { of: 2, remainder: 0 } }, 'interleave.block'],
    [{ interleave: { of: 2, remainder: 0, block: 1, size: 1 } }, 'interleave must be an object'],
    [{ interleave: [2, 0, 1] }, 'interleave must be an object'],
    [{ interleave: { of: 2, remainder: 0, block: 1 }, order: 'strict' }, 'interleave cannot be combined'],
  ])('refuses a tag with %j', async (settings, reason) => {
    const answer = await admin(server.port, 'POST', '/api/tags', { tag: 'refused', step: 10, ...settings });
    expect(answer.body).toContain(reason);
    expect(answer.status).toBe(400);
  });
});
