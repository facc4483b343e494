import { SegmentService } from '@leaf/segment';
import { SnowflakeService } from '@leaf/snowflake';
import { startTestServer } from '../../../test/support/server';
import { Sampler } from './monitor/sampling/sampler';

describe('AppModule', () => {
  afterEach(() => jest.restoreAllMocks());

  it('ends what watches the modes before the modes themselves', async () => {
    const sampler = jest.spyOn(Sampler.prototype, 'onApplicationShutdown');
    const modes = [SegmentService, SnowflakeService].map(({ prototype }) =>
      jest.spyOn(prototype, 'onApplicationShutdown'),
    );
    const server = await startTestServer({});
    await server.stop();
    const [samplerEnd] = sampler.mock.invocationCallOrder;
    for (const mode of modes) expect(samplerEnd).toBeLessThan(mode.mock.invocationCallOrder[0] as number);
  });
});
