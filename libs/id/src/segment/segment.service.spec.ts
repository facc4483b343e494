import 'reflect-metadata';
import { Logger } from '@nestjs/common';
import { FakeClock } from '@leaf-ids/core/testing';
import { InMemorySegmentStore } from '../../../../test/support/fakes/in-memory-segment-store';
import { watch } from '../../../../test/support/watch';
import { SegmentService } from './segment.service';

describe('SegmentService', () => {
  it('lists all invalid options', () => {
    const clock = new FakeClock();
    const options = { database: { url: 'sqlite:unused', migrate: false }, waitMs: NaN, prefetchRatio: 7 };
    const message = expect.stringMatching(/prefetchRatio must be .*, not 7\n.*waitMs must be .*, not NaN$/s);
    expect(() => new SegmentService(new InMemorySegmentStore(), clock, options)).toThrow(
      expect.objectContaining({ code: 'LEAF_CONFIG_INVALID', message }),
    );
  });

  it('warns once about a row whose name is not a valid tag', async () => {
    const warnings: unknown[] = [];
    const ignore = (): void => undefined;
    Logger.overrideLogger({ log: ignore, error: ignore, warn: (message: unknown) => warnings.push(message) });
    const store = new InMemorySegmentStore();
    store.put('order', 1n, 10);
    store.put('订单', 1n, 10);
    const service = new SegmentService(store, new FakeClock(), { database: { url: 'sqlite:unused', migrate: false } });
    await service.start();
    await service.generator.refresh.run();
    expect(warnings).toEqual([expect.stringMatching(/^The row "订单" in leaf_alloc is not served: .*Rename the row/)]);
    await service.stop();
  });

  it('ends its give-back in time if the store does not respond', async () => {
    Logger.overrideLogger(false);
    const clock = new FakeClock();
    const store = new InMemorySegmentStore();
    store.put('order', 1n, 10);
    const database = { url: 'sqlite:unused', migrate: false };
    const service = new SegmentService(store, clock, { database });
    await service.start();
    expect(await service.generator.next('order')).toBe(1n);
    store.hold();
    const closing = watch(service.stop().then((returned) => ['closed', returned]));
    await clock.advance(4999);
    expect(closing.value).toBeUndefined();
    await clock.advance(1);
    expect(closing.value).toEqual(['closed', undefined]);
  });
});
