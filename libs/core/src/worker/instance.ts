/** Where one server can be reached: what the registries call `ip:port`. */
export interface Instance {
  readonly ip: string;
  readonly port: number;
}

/** `ip:port`, in brackets when the address itself has colons. */
export function formatInstance({ ip, port }: Instance): string {
  return ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`;
}
