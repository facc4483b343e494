import { systemRandom } from '@leaf-ids/core/internal';
import { findEndpoints, parseZookeeperAddress } from './zookeeper-address';

describe('findEndpoints', () => {
  it('gives numeric addresses, each once', async () => {
    const address = parseZookeeperAddress('127.0.0.1:2181,[::1]:2182,127.0.0.1:2181,127.0.0.1:2183');
    const endpoints = await findEndpoints(address, systemRandom);
    expect(endpoints.sort()).toEqual(['127.0.0.1:2181', '127.0.0.1:2183', '::1:2182']);
  });

  it('looks names up', async () => {
    const [endpoint] = await findEndpoints(parseZookeeperAddress('localhost:2185'), systemRandom);
    expect(endpoint).toMatch(/^(127\.0\.0\.1|::1):2185$/);
  });

  it('takes the order from chance', async () => {
    const address = parseZookeeperAddress('10.0.0.1,10.0.0.2,10.0.0.3');
    expect(await findEndpoints(address, (bound) => bound - 1)).toEqual([1, 2, 3].map((n) => `10.0.0.${n}:2181`));
    expect(await findEndpoints(address, () => 0)).toEqual([2, 3, 1].map((n) => `10.0.0.${n}:2181`));
  });

  it('uses the hosts that can be resolved', async () => {
    const address = parseZookeeperAddress('nowhere.invalid:2181,127.0.0.1:2181');
    expect(await findEndpoints(address, systemRandom)).toEqual(['127.0.0.1:2181']);
  });

  it('names the hosts if none can be resolved', async () => {
    const address = parseZookeeperAddress('nowhere.invalid:2181');
    await expect(findEndpoints(address, systemRandom)).rejects.toMatchObject({
      kind: 'unreachable',
      message: expect.stringMatching('Cannot resolve any host of nowhere.invalid:2181: .*nowhere.invalid'),
    });
  });
});
