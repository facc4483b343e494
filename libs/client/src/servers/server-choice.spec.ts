import { LeafError, type RandomSource } from '@leaf-ids/core';
import { FakeClock } from '@leaf-ids/core/testing';
import { HttpConnection } from '../http/http-connection';
import { Server } from './server';
import { ServerHealth } from './server-health';
import { ServerChoice, RequestPolicy } from './server-choice';

const clock = new FakeClock();
const NONE = new Set<Server>();

function server(name: string, zone?: string): Server {
  const url = new URL(`http://${name}:8080`);
  const silent = { onEjected: () => undefined, onReadmitted: () => undefined };
  const health = new ServerHealth({ failures: 1, firstMs: 100, maxMs: 1000 }, clock, () => 0, silent);
  const connection = new HttpConnection(url, { timeoutMs: 1 }, clock);
  return new Server(name, zone, health, connection);
}

/** Deterministic numbers with a sufficient spread. */
function seeded(seed: number): RandomSource {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

const refusal = (): LeafError => new LeafError('LEAF_TAG_PAUSED', 'x', { retryAfterMs: 500 });
const tags = Array.from({ length: 3000 }, (_, index) => `tag-${index}`);

describe('ServerChoice', () => {
  it('keeps a key with one server, and spreads keys evenly', () => {
    const servers = ['a', 'b', 'c'].map((name) => server(name));
    const choice = new ServerChoice(servers, undefined, seeded(1));
    const places = tags.map((tag) => choice.next(new RequestPolicy(tag, clock), NONE));
    expect(tags.map((tag) => choice.next(new RequestPolicy(tag, clock), NONE))).toEqual(places);
    for (const each of servers) {
      const share = places.filter((place) => place === each).length;
      expect(share).toBeGreaterThan(800);
      expect(share).toBeLessThan(1200);
    }
  });

  it('spreads one key of many clients', () => {
    const servers = ['a', 'b', 'c'].map((name) => server(name));
    const places = Array.from({ length: 300 }, (_, seed) =>
      new ServerChoice(servers, undefined, seeded(seed)).next(new RequestPolicy('order', clock), NONE),
    );
    for (const each of servers) expect(places.filter((place) => place === each).length).toBeGreaterThan(60);
  });

  it('moves only the keys of a failed server, to all others, and back', async () => {
    const servers = ['a', 'b', 'c'].map((name) => server(name));
    const [a] = servers as [Server];
    const choice = new ServerChoice(servers, undefined, seeded(1));
    const before = tags.map((tag) => choice.next(new RequestPolicy(tag, clock), NONE));
    a.health.failed('broken', undefined);
    const during = tags.map((tag) => choice.next(new RequestPolicy(tag, clock), NONE));
    expect(during.every((place, index) => place === before[index] || before[index] === a)).toBe(true);
    expect(new Set(during.filter((_, index) => before[index] === a))).toEqual(new Set(servers.slice(1)));
    await clock.advance(100);
    expect(tags.map((tag) => choice.next(new RequestPolicy(tag, clock), NONE))).toEqual(before);
  });

  it('takes the less busy of two servers for requests without a key', () => {
    const servers = ['a', 'b', 'c'].map((name) => server(name));
    const [a, b, c] = servers as [Server, Server, Server];
    [a.outstanding, b.outstanding, c.outstanding] = [5, 1, 3];
    const choice = new ServerChoice(servers, undefined, seeded(1));
    const policy = new RequestPolicy(undefined, clock);
    const places = Array.from({ length: 600 }, () => choice.next(policy, NONE));
    const share = (each: Server): number => places.filter((place) => place === each).length;
    expect(share(a)).toBe(0);
    expect(share(b)).toBeGreaterThan(share(c));
    expect(share(c)).toBeGreaterThan(100);
  });

  it('prefers its own zone, and uses others when no server there is available', () => {
    const servers = [server('a', 'east'), server('b', 'west'), server('c', 'west'), server('d')];
    const [a, b, c, d] = servers as [Server, Server, Server, Server];
    const choice = new ServerChoice(servers, 'west', seeded(1));
    for (const key of ['order', undefined]) {
      const policy = new RequestPolicy(key, clock);
      for (let i = 0; i < 50; i++) expect([b, c]).toContain(choice.next(policy, NONE));
      expect([a, d]).toContain(choice.next(policy, new Set([b, c])));
    }
    b.health.failed('broken', undefined);
    c.health.failed('broken', undefined);
    expect([a, d]).toContain(choice.next(new RequestPolicy('order', clock), NONE));
  });

  it('skips servers that were tried or are in backoff', async () => {
    const servers = ['a', 'b'].map((name) => server(name));
    const [a, b] = servers as [Server, Server];
    const choice = new ServerChoice(servers, undefined, seeded(1));
    const policy = new RequestPolicy('order', clock);
    expect(choice.next(policy, new Set([a]))).toBe(b);
    policy.backOff(b, refusal());
    expect(choice.next(policy, new Set([a]))).toBeUndefined();
    expect(choice.next(new RequestPolicy('other', clock), new Set([a]))).toBe(b);
    await clock.advance(499);
    expect(choice.next(policy, NONE)).toBe(a);
    await clock.advance(1);
    expect(choice.next(policy, new Set([a]))).toBe(b);
  });

  it('asks a server before its Retry-After, once a second, when no other is left', async () => {
    const servers = ['a', 'b'].map((name) => server(name));
    const [a, b] = servers as [Server, Server];
    const choice = new ServerChoice(servers, undefined, seeded(1));
    const policy = new RequestPolicy(undefined, clock);
    policy.backOff(b, new LeafError('LEAF_CLOCK_BACKWARDS', 'x', { retryAfterMs: 60_000 }));
    await clock.advance(999);
    expect(choice.next(policy, new Set([a]))).toBeUndefined();
    await clock.advance(1);
    expect(choice.next(policy, NONE)).toBe(a);
    expect(choice.next(policy, new Set([a]))).toBe(b);
    a.health.failed('broken', undefined);
    expect(choice.next(policy, NONE)).toBe(b);
    policy.backOff(b, new LeafError('LEAF_CLOCK_BACKWARDS', 'x', { retryAfterMs: 60_000 }));
    expect(choice.next(policy, new Set([a]))).toBeUndefined();
  });

  it('tries ejected servers when no other is left', async () => {
    const servers = ['a', 'b'].map((name) => server(name));
    const [a, b] = servers as [Server, Server];
    const choice = new ServerChoice(servers, undefined, seeded(1));
    for (const { health } of servers) health.failed('broken', undefined);
    await clock.advance(100);
    for (const { health } of servers) health.failed('broken', undefined);
    const policy = new RequestPolicy('order', clock);
    expect(choice.next(policy, NONE)).toBeUndefined();
    await clock.advance(101);
    b.health.failed('broken', undefined);
    expect(b.health.state).toBe('ejected');
    expect(choice.next(policy, NONE)).toBe(a);
    expect(choice.next(policy, new Set([a]))).toBeUndefined();
    await clock.advance(100);
    expect(b.health.state).toBe('ejected');
    expect(choice.next(policy, new Set([a]))).toBe(b);
  });
});
