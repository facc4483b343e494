import { Leaf } from '@leaf-ids/id';
import { DataSource } from 'typeorm';
import { startTestServer } from '../../../test/support/servers/server';
import { Sampler } from './monitor/sampling/sampler';

describe('AppModule', () => {
  afterEach(() => jest.restoreAllMocks());

  it('ends what watches the modes before the modes, and the modes before their database', async () => {
    const ends = [
      jest.spyOn(Sampler.prototype, 'onApplicationShutdown'),
      jest.spyOn(Leaf.prototype, 'stop'),
      jest.spyOn(DataSource.prototype, 'destroy'),
    ];
    const server = await startTestServer({});
    await server.stop();
    const order = ends.map(({ mock }) => mock.invocationCallOrder[0] ?? NaN);
    expect(order).toEqual([...order].sort((a, b) => a - b));
  });
});
