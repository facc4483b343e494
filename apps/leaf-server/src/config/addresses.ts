import { isIP } from 'node:net';
import { firstAddress, type HostAddresses } from '@leaf-ids/core/internal';
import { sharesRegistry } from './contradictions';
import type { Resolved } from './resolved';

/** Whether a server with this `LEAF_HOST` listens on all addresses of its host. */
export function isWildcard(host: string): boolean {
  return host === '::' || host === '0.0.0.0';
}

/** `::` takes IPv4 connections as well. */
export function anyAddress(addresses: HostAddresses): string {
  const families = Object.values(addresses).flatMap((list) => (list ?? []).map(({ family }) => family));
  return families.includes('IPv6') ? '::' : '0.0.0.0';
}

/** A warning when the registry sends other servers to an address on which HTTP does not listen. */
export function unreachableHost(values: Partial<Resolved>, addresses: HostAddresses): string[] {
  const { LEAF_HOST: host, LEAF_ADVERTISE_HOST: advertised } = values;
  const first = firstAddress(addresses);
  if (advertised !== undefined || host === undefined || isIP(host) === 0 || isWildcard(host)) return [];
  if (host === first || !sharesRegistry(values)) return [];
  return [
    `The address of this server in the worker registry is ${first}, but HTTP listens only on ${host}: set LEAF_ADVERTISE_HOST to an address at which other servers reach this one.`,
  ];
}
