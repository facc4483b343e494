import { LeafError } from '@leaf-ids/core';
import { FakeClock } from '@leaf-ids/core/testing';
import { Logger } from '@nestjs/common';
import fastify, { type FastifyInstance } from 'fastify';
import { AdminTokens, TokenSet } from '../tokens/token-set';
import { ClientAccess } from './client-access';

const [BILLING, SHOP, ADMIN] = ['billing-token-0123456789', 'shop-token-0123456789', 'admin-token-0123456789'];
const ADDRESS = '10.0.0.7';
const RULES = { billing: { tags: ['invoice'], idsPerSecond: 10 }, '*': { tags: ['*'], idsPerSecond: 5 } };

let clock: FakeClock;
let clients: TokenSet;
let access: ClientAccess;
let warn: jest.SpyInstance;

beforeEach(() => {
  warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
  clock = new FakeClock();
  clients = new TokenSet(
    [
      { name: 'billing', token: BILLING },
      { name: 'shop', token: SHOP, expiresAt: clock.now() + 60_000 },
    ],
    clock,
  );
  access = accessWith({ enabled: true });
});

afterEach(() => jest.restoreAllMocks());

function accessWith({ enabled, rules = RULES }: { enabled: boolean; rules?: typeof RULES | object }): ClientAccess {
  const admins = new AdminTokens([{ name: 'ops', token: ADMIN }], clock);
  return new ClientAccess({ enabled, rules: { ...rules }, clients, admins }, clock);
}

function outcome(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error instanceof LeafError ? error.code : error;
  }
}

const authenticate = (token: string, address = ADDRESS): unknown =>
  outcome(() => access.authenticate(token, address, 'AUTH').client.name);
const charge = (token: string, tag: string, count: number): unknown => {
  const accepted = access.authenticate(token, ADDRESS, 'AUTH');
  return outcome(() => typeof access.charge(accepted, tag, count));
};

describe('a connection', () => {
  it('belongs to the client of its token', () => {
    expect([authenticate(BILLING), authenticate(SHOP), authenticate(ADMIN)]).toEqual(['billing', 'shop', 'admin']);
    for (const wrong of ['', 'billing', `${BILLING}x`, BILLING.slice(1)]) {
      expect(authenticate(wrong, wrong)).toBe('LEAF_UNAUTHORIZED');
    }
  });

  it('takes no IDs without a token, or with one that has ended since', async () => {
    expect(outcome(() => access.charge(undefined, 'invoice', 1))).toBe('LEAF_UNAUTHORIZED');
    const [billing, shop] = [BILLING, SHOP].map((token) => access.authenticate(token, ADDRESS, 'AUTH'));
    await clock.advance(59_999);
    expect(outcome(() => typeof access.charge(shop, 'order', 1))).toBe('object');
    await clock.advance(1);
    expect(outcome(() => access.charge(shop, 'order', 1))).toBe('LEAF_UNAUTHORIZED');
    expect(authenticate(SHOP)).toBe('LEAF_UNAUTHORIZED');
    clients.replace([{ name: 'billing', token: 'another-token-0123456789' }]);
    expect(outcome(() => access.charge(billing, 'invoice', 1))).toBe('LEAF_UNAUTHORIZED');
  });

  it('takes IDs of its tags alone, within its quota', () => {
    expect(charge(BILLING, 'invoice', 10)).toBe('object');
    expect(charge(BILLING, 'invoice', 1)).toBe('LEAF_QUOTA_EXCEEDED');
    expect(charge(BILLING, 'invoice', 0)).toBe('object');
    expect(charge(BILLING, 'order', 1)).toBe('LEAF_FORBIDDEN');
    expect(charge(BILLING, 'order', 0)).toBe('LEAF_FORBIDDEN');
    expect(charge(SHOP, 'order', 5)).toBe('object');
    expect(charge(SHOP, 'order', 1)).toBe('LEAF_QUOTA_EXCEEDED');
    expect(charge(ADMIN, 'order', 1_000_000)).toBe('object');
  });

  it('is told when the quota grants the next ID, and what it never grants', async () => {
    charge(BILLING, 'invoice', 10);
    await clock.advance(50);
    const billing = access.authenticate(BILLING, ADDRESS, 'AUTH');
    expect(() => access.charge(billing, 'invoice', 1)).toThrow(expect.objectContaining({ retryAfterMs: 50 }));
    expect(() => access.charge(billing, 'invoice', 600)).toThrow(expect.objectContaining({ retryAfterMs: 50 }));
    expect(() => access.charge(billing, 'invoice', 601)).toThrow(expect.objectContaining({ retryAfterMs: undefined }));
  });

  it('is limited by the rule of its name, and without one by that for all others', () => {
    access = accessWith({ enabled: true, rules: {} });
    expect(charge(BILLING, 'order', 1_000_000)).toBe('object');
    clients.replace([{ name: 'constructor', token: SHOP }]);
    access = accessWith({ enabled: true });
    expect(charge(SHOP, 'order', 5)).toBe('object');
    expect(charge(SHOP, 'order', 1)).toBe('LEAF_QUOTA_EXCEEDED');
  });

  it('is refused while an operator blocks its client', () => {
    const billing = access.authenticate(BILLING, ADDRESS, 'AUTH');
    access.setBlocked('billing', true);
    access.setBlocked('shop', false);
    expect(access.blockedNames).toEqual(['billing']);
    expect(outcome(() => access.charge(billing, 'invoice', 1))).toBe('LEAF_FORBIDDEN');
    expect([authenticate(BILLING), authenticate(SHOP)]).toEqual(['LEAF_FORBIDDEN', 'shop']);
    access.setBlocked('billing', false);
    expect(outcome(() => typeof access.charge(billing, 'invoice', 1))).toBe('object');
  });

  it('has to wait after ten failures, and is accepted with a valid token meanwhile', async () => {
    for (let n = 0; n < 10; n++) expect(authenticate('wrong')).toBe('LEAF_UNAUTHORIZED');
    expect(authenticate('wrong')).toBe('LEAF_TOO_MANY_FAILURES');
    expect(authenticate('')).toBe('LEAF_TOO_MANY_FAILURES');
    expect([authenticate('wrong', '10.0.0.8'), authenticate(BILLING)]).toEqual(['LEAF_UNAUTHORIZED', 'billing']);
    await clock.advance(60_000);
    expect(authenticate('wrong')).toBe('LEAF_UNAUTHORIZED');
  });

  it('needs no token where none is required', () => {
    access = accessWith({ enabled: false });
    expect(access.enabled).toBe(false);
    expect(outcome(() => typeof access.charge(undefined, 'order', 1_000_000))).toBe('object');
  });
});

describe('a request', () => {
  let server: FastifyInstance;

  beforeEach(() => {
    server = fastify();
    server.get('/', (request, reply) => outcome(() => access.identify(request, reply).name));
  });
  afterEach(() => server.close());

  const basic = (password: string): string => `Basic ${Buffer.from(`user:${password}`).toString('base64')}`;
  const ask = async (headers: Record<string, string>) => {
    const { body, headers: answered } = await server.inject({ url: '/', headers });
    return [body, answered['www-authenticate']];
  };

  it('belongs to the client of its token', async () => {
    for (const authorization of [`Bearer ${BILLING}`, `bearer  ${BILLING}`, basic(BILLING)]) {
      expect(await ask({ authorization })).toEqual(['billing', undefined]);
      expect(await ask({ authorization })).toEqual(['billing', undefined]);
    }
    expect(await ask({ authorization: basic(ADMIN) })).toEqual(['admin', undefined]);
  });

  it('without a valid token is told what it needs', async () => {
    expect(await ask({})).toEqual(['LEAF_UNAUTHORIZED', 'Bearer realm="leaf"']);
    for (const authorization of [BILLING, `Bearer ${BILLING}x`, `Bearer ${BILLING} x`, basic('x'), '']) {
      expect(await ask({ authorization })).toEqual(['LEAF_UNAUTHORIZED', 'Bearer realm="leaf", error="invalid_token"']);
    }
  });

  it('counts as a failure with a wrong token alone', async () => {
    for (let n = 0; n < 20; n++) expect((await ask({}))[0]).toBe('LEAF_UNAUTHORIZED');
    expect(warn).not.toHaveBeenCalled();
    for (let n = 0; n < 10; n++) expect((await ask({ authorization: 'Bearer x' }))[0]).toBe('LEAF_UNAUTHORIZED');
    expect(await ask({ authorization: 'Bearer x' })).toEqual(['LEAF_TOO_MANY_FAILURES', undefined]);
    expect(warn).toHaveBeenCalledTimes(10);
    expect(warn).toHaveBeenCalledWith('Refused: GET / from 127.0.0.1 without a valid token.');
  });

  it('is refused once its token has ended, or its client is blocked', async () => {
    const authorization = `Bearer ${SHOP}`;
    expect((await ask({ authorization }))[0]).toBe('shop');
    access.setBlocked('shop', true);
    expect((await ask({ authorization }))[0]).toBe('LEAF_FORBIDDEN');
    access.setBlocked('shop', false);
    await clock.advance(60_000);
    expect((await ask({ authorization }))[0]).toBe('LEAF_UNAUTHORIZED');
  });

  it('is charged without the framework once its header was accepted', async () => {
    const authorization = `Bearer ${SHOP}`;
    const tryCharge = (count: number): boolean => access.tryCharge(authorization, 'order', count) !== undefined;
    expect([tryCharge(1), access.tryCharge(undefined, 'order', 1)]).toEqual([false, undefined]);
    await ask({ authorization });
    expect([tryCharge(5), tryCharge(1)]).toEqual([true, false]);
    await clock.advance(1000);
    access.setBlocked('shop', true);
    expect(tryCharge(1)).toBe(false);
    access.setBlocked('shop', false);
    expect(tryCharge(1)).toBe(true);
    await clock.advance(59_000);
    expect(tryCharge(1)).toBe(false);
  });

  it('is charged for its tags alone', async () => {
    const authorization = `Bearer ${BILLING}`;
    await ask({ authorization });
    expect(access.tryCharge(authorization, 'order', 1)).toBeUndefined();
    expect(access.tryCharge(authorization, 'invoice', 1)).toBeDefined();
  });

  it('needs no token where none is required', () => {
    expect(accessWith({ enabled: false }).tryCharge(undefined, 'order', 1_000_000)).toBeDefined();
  });

  it('of the 1024 newest headers needs no second comparison', async () => {
    const header = (spaces: number): string => `Bearer${' '.repeat(spaces)}${ADMIN}`;
    for (let n = 1; n <= 1025; n++) await ask({ authorization: header(n) });
    const known = [1, 2, 1025].map((n) => access.tryCharge(header(n), 'order', 1) !== undefined);
    expect(known).toEqual([false, true, true]);
  });
});
