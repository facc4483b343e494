/** Address and port of one server; the registries write them as `ip:port`. */
export interface Instance {
  readonly ip: string;
  readonly port: number;
}

/** `ip:port`, in brackets when the address itself has colons. */
export function formatInstance({ ip, port }: Instance): string {
  return ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`;
}

/** The instance of a further process of a server, numbered from 1. No server can have such an address itself. */
export function processInstance({ ip, port }: Instance, process: number): Instance {
  return { ip: `${ip}#${process}`, port };
}
