import { FakeClock } from '@leaf-ids/core/testing';
import { RELAY_LIMIT_MS } from '../processes/relay';
import type { ServerIdentity } from '../monitor/process/server-identity';
import type { PeerWatch } from '../monitor/sampling/peer-watch';
import { ClusterWatch } from './cluster-watch';
import type { OwnReport } from './own-report';
import type { PeerClient } from './peer-client';

const OWN = '10.0.0.1:80';

function report(instance: string): object {
  const idsPerSecond = { segment: 0, snowflake: 0 };
  return { instance, state: 'ready', version: '0.1.0', startedAt: 1, idsPerSecond, errorsPerSecond: 0 };
}

describe('ClusterWatch', () => {
  let clock: FakeClock;
  let hung: Set<string>;
  /** Response times in milliseconds, where they are not 1. */
  let slow: Map<string, number>;
  /** Requests that are in progress, and the most of them at once. */
  let asking: number;
  let most: number;

  beforeEach(() => {
    clock = new FakeClock();
    hung = new Set();
    slow = new Map();
    [asking, most] = [0, 0];
  });

  function watch(count: number): ClusterWatch {
    const list = Array.from({ length: count }, (_, index) => ({ instance: `10.0.0.${index + 1}:80`, workerId: index }));
    const client = {
      isEnabled: true,
      urlOf: (instance: string) => `http://${instance}`,
      retain: () => undefined,
      request: async (instance: string, _: object, limitMs: number) => {
        most = Math.max(most, ++asking);
        const tookMs = hung.has(instance) ? Infinity : (slow.get(instance) ?? 1);
        await clock.sleep(Math.min(tookMs, limitMs));
        asking--;
        if (tookMs > limitMs) throw new Error(`timed out after ${limitMs} ms`);
        return { status: 200, headers: {}, text: JSON.stringify(report(instance)) };
      },
    };
    const own = { get: () => Promise.resolve(report(OWN)) };
    const peers = { list, refresh: () => Promise.resolve() };
    return new ClusterWatch(
      clock,
      client as unknown as PeerClient,
      peers as unknown as PeerWatch,
      own as unknown as OwnReport,
      { instance: OWN } as ServerIdentity,
    );
  }

  async function statesAfter(cluster: ClusterWatch, ms: number): Promise<string[]> {
    const listed = cluster.list();
    await clock.advance(ms);
    return (await listed).servers.map(({ state }) => state);
  }

  it('asks eight servers at a time', async () => {
    const states = await statesAfter(watch(100), 2000);
    expect(new Set(states)).toEqual(new Set(['ready']));
    expect(most).toBe(8);
  });

  it('waits for a server whose processes respond at the limit of the relay', async () => {
    slow.set('10.0.0.2:80', RELAY_LIMIT_MS + 100);
    expect(await statesAfter(watch(3), 2000)).toEqual(['ready', 'ready', 'ready']);
  });

  it('does not wait for servers that hang, and asks them last', async () => {
    const cluster = watch(40);
    for (let index = 2; index <= 33; index++) hung.add(`10.0.0.${index}:80`);
    const first = await statesAfter(cluster, 2000);
    expect(first.filter((state) => state === 'silent')).toHaveLength(8);
    await clock.advance(10_000);
    const later = await statesAfter(cluster, 2000);
    expect(later.filter((state) => state === 'ready')).toHaveLength(8);
    expect(later).not.toContain('refused');
  });

  it('shows no result of a round long ago', async () => {
    const cluster = watch(40);
    expect(new Set(await statesAfter(cluster, 2000))).toEqual(new Set(['ready']));
    for (let index = 2; index <= 40; index++) hung.add(`10.0.0.${index}:80`);
    await clock.advance(3_600_000);
    const listed = cluster.list();
    await clock.advance(2000);
    const { servers } = await listed;
    const of = (wanted: string): number => servers.filter(({ state }) => state === wanted).length;
    expect([of('ready'), of('silent'), of('unasked')]).toEqual([1, 8, 31]);
    expect(servers.every(({ lastAnsweredAt }) => lastAnsweredAt !== undefined)).toBe(true);
  });

  it('asks at most 1000 servers', async () => {
    const states = await statesAfter(watch(1200), 2000);
    expect(states).toHaveLength(1000);
  });
});
