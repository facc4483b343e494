import { FakeClock } from '@leaf-ids/core/testing';
import { warnWithoutShutdownHooks } from './leaf.module';

describe('warnWithoutShutdownHooks', () => {
  const handler = (): void => undefined;
  let clock: FakeClock;
  let warn: jest.Mock;
  let stopping: AbortController;

  beforeEach(() => {
    [clock, warn, stopping] = [new FakeClock(), jest.fn(), new AbortController()];
    void warnWithoutShutdownHooks(clock, { warn }, stopping.signal);
  });
  afterEach(() => process.off('SIGTERM', handler));

  it('names the call that is missing', async () => {
    await clock.advance(4999);
    expect(warn).not.toHaveBeenCalled();
    await clock.advance(1);
    expect(warn.mock.calls).toEqual([[expect.stringMatching(/SIGTERM.* Call app\.enableShutdownHooks\(\)\.$/)]]);
  });

  it('is silent if the application handles the signal, also if it starts to after the start', async () => {
    await clock.advance(4000);
    process.on('SIGTERM', handler);
    await clock.advance(60_000);
    expect(warn).not.toHaveBeenCalled();
  });

  it('is silent after a stop', async () => {
    stopping.abort();
    await clock.advance(60_000);
    expect(warn).not.toHaveBeenCalled();
    expect(clock.sleeping).toBe(0);
  });
});
