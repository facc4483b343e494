/**
 * An IPv4 address as such, also where a socket for both families reports it as `::ffff:10.0.0.7`.
 *
 * @param address undefined once the connection is closed
 */
export function unmapped(address = 'unknown'): string {
  return address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '');
}
