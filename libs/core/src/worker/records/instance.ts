import { networkInterfaces } from 'node:os';
import { type Rules, text, whole } from '../../util/options';

/** Address and port of one server; the registries write them as `ip:port`. */
export interface Instance {
  readonly ip: string;
  readonly port: number;
}

export const INSTANCE_RULES: Rules<Instance> = { ip: text, port: whole(0, 65_535) };

/** `ip:port`; an IPv6 address is in brackets. */
export function formatInstance({ ip, port }: Instance): string {
  return ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`;
}

/** The instance of an additional process of a server, numbered from 1. No server can have such an address. */
export function processInstance({ ip, port }: Instance, process: number): Instance {
  return { ip: `${ip}#${process}`, port };
}

/** The server of an instance in the form of {@link formatInstance}: an additional process belongs to that of its address. */
export function serverInstance(instance: string): string {
  return instance.replace(/#\d+(?=\]?:\d+$)/, '');
}

/** The addresses of a host by network interface, as `networkInterfaces()` of Node lists them. */
export type HostAddresses = ReturnType<typeof networkInterfaces>;

/**
 * The first address of this host that others can reach: an IPv4 address, or an IPv6 address that is not link-local where
 * there is none; `127.0.0.1` where there is neither.
 */
export function firstAddress(addresses: HostAddresses = networkInterfaces()): string {
  const external = Object.values(addresses).flatMap((list) => (list ?? []).filter(({ internal }) => !internal));
  const found =
    external.find(({ family }) => family === 'IPv4') ??
    external.find(({ family, address }) => family === 'IPv6' && !/^fe[89ab]/i.test(address));
  return found?.address ?? '127.0.0.1';
}

/** Whether an address or a name reaches only servers on the same host. */
export function isLoopback(address: string): boolean {
  return address === '::1' || address === 'localhost' || /^(?:::ffff:)?127\./i.test(address);
}
