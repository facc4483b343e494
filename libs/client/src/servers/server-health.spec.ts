import { FakeClock } from '@leaf-ids/core/testing';
import { ServerHealth } from './server-health';

class Rig {
  readonly clock = new FakeClock();
  readonly log: string[] = [];
  readonly health = new ServerHealth({ failures: 2, firstMs: 100, maxMs: 1000 }, this.clock, (bound) => bound - 1, {
    onEjected: (error, forMs) => this.log.push(`ejected for ${forMs}: ${String(error)}`),
    onReadmitted: () => this.log.push('readmitted'),
  });

  fail(times = 1, retryAfterMs?: number): void {
    for (let i = 0; i < times; i++) {
      this.health.begin();
      this.health.failed('broken', retryAfterMs);
    }
  }
}

describe('ServerHealth', () => {
  it('tolerates single failures', () => {
    const { health, log, ...rig } = new Rig();
    for (let i = 0; i < 5; i++) {
      health.failed('broken', undefined);
      expect(health).toMatchObject({ state: 'serving', admits: true, failuresInRow: 1 });
      health.succeeded();
    }
    expect(log).toStrictEqual([]);
    expect(rig.clock.sleeping).toBe(0);
  });

  it('is ejected by failures in a row, and tried by one request after that', async () => {
    const rig = new Rig();
    const { health, clock } = rig;
    rig.fail(2);
    expect(health).toMatchObject({ state: 'ejected', admits: false, lastErrorText: 'broken' });
    await clock.advance(99);
    expect(health.admits).toBe(false);
    await clock.advance(1);
    expect(health).toMatchObject({ state: 'probation', admits: true });
    health.begin();
    expect(health.admits).toBe(false);
    health.succeeded();
    expect(health).toMatchObject({ state: 'serving', admits: true, failuresInRow: 0, lastErrorText: undefined });
    expect(rig.log).toEqual(['ejected for 100: broken', 'readmitted']);
  });

  it('is ejected for longer each time, up to the limit, and for the first duration after a success', async () => {
    const rig = new Rig();
    rig.fail(2);
    for (const ms of [200, 400, 800, 1000, 1000]) {
      await rig.clock.advance(1000);
      rig.fail();
      expect(rig.log.at(-1)).toBe(`ejected for ${ms}: broken`);
    }
    await rig.clock.advance(1000);
    rig.health.begin();
    rig.health.succeeded();
    rig.fail(2);
    expect(rig.log.at(-1)).toBe('ejected for 100: broken');
  });

  it('ignores failures of requests from before the ejection', async () => {
    const rig = new Rig();
    for (let i = 0; i < 10; i++) rig.health.begin();
    for (let i = 0; i < 10; i++) rig.health.failed('broken', undefined);
    expect(rig.log).toEqual(['ejected for 100: broken']);
    await rig.clock.advance(100);
    expect(rig.health.admits).toBe(true);
  });

  it('is readmitted by a success of a request from before the ejection', () => {
    const rig = new Rig();
    rig.fail(2);
    rig.health.succeeded();
    expect(rig.health.admits).toBe(true);
  });

  it('is ejected at once for its Retry-After', async () => {
    const rig = new Rig();
    rig.fail(1, 5000);
    expect(rig.log).toEqual(['ejected for 5000: broken']);
    await rig.clock.advance(4999);
    expect(rig.health).toMatchObject({ admits: false, admitsInNeed: false });
    await rig.clock.advance(1);
    expect(rig.health).toMatchObject({ admits: true, admitsInNeed: true });
  });

  it('may be tried early when no other server is left, after a pause and one request at a time', async () => {
    const rig = new Rig();
    rig.fail(2);
    await rig.clock.advance(100);
    rig.fail();
    await rig.clock.advance(99);
    expect(rig.health.admitsInNeed).toBe(false);
    await rig.clock.advance(1);
    expect(rig.health).toMatchObject({ admits: false, admitsInNeed: true });
    rig.health.begin();
    expect(rig.health.admitsInNeed).toBe(false);
    rig.health.failed('broken', undefined);
    expect(rig.log.at(-1)).toBe('ejected for 400: broken');
  });

  it('may be tried again after a request without a result', async () => {
    const rig = new Rig();
    rig.fail(2);
    await rig.clock.advance(100);
    rig.health.begin();
    rig.health.abandoned();
    expect(rig.health.admits).toBe(true);
  });
});
