import type { IncomingMessage } from 'node:http';
import { isIPv4, isIPv6 } from 'node:net';
import type { FastifyRequest } from 'fastify';

const GROUPS = 8;
/** Groups of the /64 that one subscriber usually has. */
const NETWORK_GROUPS = 4;
/** `::ffff:0:0/96`: IPv4 addresses, as a socket for both families reports them. */
const MAPPED = '0:0:0:0:0:ffff';
const FORWARDED = 'x-forwarded-for';

/**
 * The client as limits count it: an IPv4 address, or the /64 of an IPv6 address, all of which one client can use.
 *
 * @param address in any form that {@link plainAddress} takes
 */
export function networkOf(address: string | undefined): string {
  const own = plainAddress(address);
  return isIPv6(own) ? `${groupsOf(own).slice(0, NETWORK_GROUPS).join(':')}::/64` : own;
}

/**
 * The address alone, without the port, the brackets, the quotes or the `for=` that some proxies write with it. An IPv4
 * address that is mapped into IPv6 is returned as IPv4; any other text as it is.
 *
 * @param text undefined once the connection is closed
 */
export function plainAddress(text = 'unknown'): string {
  const bare = text.trim().replace(/^for=/i, '').replaceAll('"', '');
  const address = /^\[([^\]]*)\](?::\d+)?$/.exec(bare)?.[1] ?? /^([^:]+):\d+$/.exec(bare)?.[1] ?? bare;
  return isIPv6(address) ? unmapped(address) : address;
}

/** Makes each address of `X-Forwarded-For` plain, so that one client of a proxy is one client whatever port it has. */
export function plainForwarded({ headers }: IncomingMessage): void {
  const given = headers[FORWARDED];
  if (typeof given === 'string') headers[FORWARDED] = given.split(',').map(plainAddress).join(', ');
}

function unmapped(address: string): string {
  const dotted = address.slice(address.lastIndexOf(':') + 1);
  const groups = groupsOf(address);
  if (groups.slice(0, -2).join(':') !== MAPPED) return address;
  if (isIPv4(dotted)) return dotted;
  return groups
    .slice(-2)
    .flatMap((group) => [parseInt(group, 16) >> 8, parseInt(group, 16) & 255])
    .join('.');
}

/** The eight groups of an IPv6 address, without leading zeros; 0 for the two groups that are written as IPv4. */
function groupsOf(address: string): string[] {
  const hex = address.replace(/%.*/, '').replace(/[^:]+\.[^:]+/, '0:0');
  const [before = [], after = []] = hex.split('::').map((part) => (part === '' ? [] : part.split(':')));
  const zeros = Array.from({ length: GROUPS - before.length - after.length }, () => '0');
  return [...before, ...zeros, ...after].map((group) => parseInt(group, 16).toString(16));
}

/** The client's address: of the connection, or as a trusted proxy names it. */
export function addressOf(request: FastifyRequest): string {
  return plainAddress(request.ip);
}
