import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { RandomSource } from '@leaf-ids/core';
import { messageOf } from '@leaf-ids/core/internal';
import type { ZookeeperAddress } from './zookeeper-address';
import { ZookeeperFault } from './zookeeper-fault';

/**
 * Resolves the servers to `ip:port`, in random order, so that clients spread over the servers. Skips names that cannot
 * be resolved.
 *
 * @throws ZookeeperFault `unreachable` when no name can be resolved
 */
export async function findEndpoints(address: ZookeeperAddress, random: RandomSource): Promise<string[]> {
  const problems: string[] = [];
  const found = await Promise.all(
    address.hosts.map(async ({ host, port }) => {
      try {
        const places = isIP(host) > 0 ? [{ address: host }] : await lookup(host, { all: true });
        return places.map((place) => `${place.address}:${port}`);
      } catch (error) {
        problems.push(messageOf(error));
        return [];
      }
    }),
  );
  const endpoints = [...new Set(found.flat())];
  if (endpoints.length === 0) {
    throw new ZookeeperFault(
      'unreachable',
      `Cannot resolve any host of ${address.description}: ${problems.join('; ')}. Check the option snowflake.registry.zookeeper.address and DNS.`,
    );
  }
  for (let last = endpoints.length - 1; last > 0; last--) {
    const other = random(last + 1);
    [endpoints[last], endpoints[other]] = [endpoints[other] ?? '', endpoints[last] ?? ''];
  }
  return endpoints;
}
