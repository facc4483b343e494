import { systemRandom } from '@leaf-ids/core/internal';
import { FakeClock } from '@leaf-ids/core/testing';
import { requireZookeeperClient } from '../../support/servers/zookeeper-client';
import { CLOSED, NativeFailure } from '../../../libs/registry/src/stores/zookeeper/zookeeper-fault';
import { parseZookeeperAddress } from '../../../libs/registry/src/stores/zookeeper/zookeeper-address';
import { ZookeeperConnection } from '../../../libs/registry/src/stores/zookeeper/zookeeper-connection';
import { ZookeeperLink } from '../../../libs/registry/src/stores/zookeeper/zookeeper-link';

describe('ZookeeperLink', () => {
  const clock = new FakeClock();
  let link: ZookeeperLink;
  let up: boolean;
  let started: number;

  beforeAll(requireZookeeperClient);
  beforeEach(() => {
    [up, started] = [false, 0];
    jest.spyOn(ZookeeperConnection.prototype, 'start').mockImplementation(() => {
      started++;
      return Promise.resolve();
    });
    jest.spyOn(ZookeeperConnection.prototype, 'open').mockImplementation(() => {
      if (up) return Promise.resolve({ client_id: 'a', client_password: 'b' });
      return Promise.reject(new NativeFailure(CLOSED, false));
    });
    const address = parseZookeeperAddress('127.0.0.1:1,127.0.0.1:2,127.0.0.1:3');
    link = new ZookeeperLink({ address, connectMs: 2000, sessionMs: 10_000 }, clock, systemRandom);
  });
  afterEach(async () => {
    await link.close();
    jest.restoreAllMocks();
  });

  /** Reports as a server does: a call every 3 s, which waits up to 2 s. */
  async function outage(ms: number): Promise<void> {
    for (const end = clock.monotonic() + ms; clock.monotonic() < end;) {
      const call = link.use().catch((error: unknown) => error);
      await clock.advance(3000);
      expect(await call).toMatchObject({ kind: 'unreachable', message: expect.stringContaining('127.0.0.1') });
    }
  }

  it('starts few processes in an outage, however long that is', async () => {
    await outage(15_000);
    expect(started).toBeLessThanOrEqual(7 * 3);
    started = 0;
    await outage(600_000);
    // A round through three servers in 7.5 to 10 s.
    expect(started).toBeLessThanOrEqual(3 * 81);
    expect(started).toBeGreaterThanOrEqual(3 * 59);
  });

  it('has a connection for whoever asks 10 s after the return of the servers', async () => {
    await outage(120_000);
    up = true;
    await clock.advance(10_000);
    await expect(link.use()).resolves.toMatchObject({ generation: 1 });
  });

  it('starts nothing once nobody asks any more', async () => {
    await outage(60_000);
    await clock.advance(30_000);
    started = 0;
    await clock.advance(600_000);
    expect(started).toBe(0);
  });
});
