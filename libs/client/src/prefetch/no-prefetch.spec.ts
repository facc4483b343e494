import { ClientRig } from '../../../../test/support/http/client-rig';
import { watch } from '../../../../test/support/watch';
import { RangeBuffer } from './range-buffer';
import { SnowflakeBuffer } from './snowflake-buffer';

const OPTIONS = { minSize: 100, maxSize: 1600, durationMs: 10_000, maxAgeMs: 60_000 };

describe('buffers without prefetch', () => {
  let rig: ClientRig;
  let tag: RangeBuffer;
  let snowflakes: SnowflakeBuffer;

  beforeEach(() => {
    rig = new ClientRig();
    const context = { ...rig.context, prefetch: false };
    tag = new RangeBuffer('order', context, OPTIONS, () => {
      throw new Error('no server has said that');
    });
    snowflakes = new SnowflakeBuffer(context, OPTIONS);
  });
  afterEach(() => rig.close());

  it('fetch what each call returns, and no more', async () => {
    expect(await tag.take()).toBe(1n);
    expect(await tag.takeRanges(250)).toEqual([{ from: 2n, to: 251n }]);
    expect(await snowflakes.take(3)).toEqual(['252', '253', '254']);
    expect([tag.tryNext(), snowflakes.tryNext()]).toEqual([undefined, undefined]);
    await rig.clock.advance(120_000);
    expect(rig.asked).toEqual([1, 250, 3]);
    expect(rig.log).toEqual(['order: 1', 'order: 250', 'snowflake: 3']);
  });

  it('send one request for all waiting callers', async () => {
    const calls = [tag.take(), tag.takeRanges(4), tag.take()];
    expect(await Promise.all(calls)).toEqual([1n, [{ from: 2n, to: 5n }], 6n]);
    expect(rig.asked).toEqual([6]);
  });

  it('stop to retry when no caller waits', async () => {
    await tag.take();
    rig.failure = ClientRig.outage();
    const call = watch(tag.take());
    await rig.clock.advance(1000);
    expect(call.error).toMatchObject({ code: 'LEAF_SERVERS_UNAVAILABLE' });
    await rig.clock.advance(1000);
    const sent = rig.asked.length;
    await rig.clock.advance(60_000);
    expect(rig.asked.length).toBe(sent);
    rig.failure = undefined;
    const next = watch(tag.take());
    await rig.settle();
    expect(next.settled).toBe(true);
  });
});
