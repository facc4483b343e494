import { networkInterfaces } from 'node:os';

/** Address and port of one server; the registries write them as `ip:port`. */
export interface Instance {
  readonly ip: string;
  readonly port: number;
}

/** `ip:port`; an IPv6 address is in brackets. */
export function formatInstance({ ip, port }: Instance): string {
  return ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`;
}

/** The instance of an additional process of a server, numbered from 1. No server can have such an address. */
export function processInstance({ ip, port }: Instance, process: number): Instance {
  return { ip: `${ip}#${process}`, port };
}

/** The first external IPv4 address of this host; `127.0.0.1` if there is none. */
export function firstAddress(): string {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return addresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1';
}
