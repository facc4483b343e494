import { isIPv6 } from 'node:net';

const GROUPS = 8;
/** Of the 64 bits that one subscriber has as a rule. */
const NETWORK_GROUPS = 4;

/** The client as limits count it: an IPv4 address, or the /64 of an IPv6 address, all of which one client can use. */
export function networkOf(address: string): string {
  const own = unmapped(address);
  if (!isIPv6(own)) return own;
  const [head = '', tail] = (own.split('%')[0] ?? '').split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, GROUPS - before.length - after.length);
  const groups = [...before, ...Array.from({ length: zeros }, () => '0'), ...after];
  const network = groups.slice(0, NETWORK_GROUPS).map((group) => parseInt(group, 16).toString(16));
  return `${network.join(':')}::/64`;
}

/**
 * An IPv4 address as such, also where a socket for both families reports it as `::ffff:10.0.0.7`.
 *
 * @param address undefined once the connection is closed
 */
export function unmapped(address = 'unknown'): string {
  return address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '');
}
