import type { Environment } from './variables';

/** Files in PEM, read at the start. */
export interface RespTls {
  readonly certFile: string;
  readonly keyFile: string;
}

/** The port for clients of the Redis protocol. */
export interface RespConfig {
  readonly host: string;
  readonly port: number;
  /** Undefined: no TLS. */
  readonly tls: RespTls | undefined;
}

type Settings = Partial<
  Pick<
    Environment,
    | 'LEAF_PORT'
    | 'LEAF_MANAGEMENT_PORT'
    | 'LEAF_RESP_PORT'
    | 'LEAF_RESP_HOST'
    | 'LEAF_RESP_TLS_CERT_FILE'
    | 'LEAF_RESP_TLS_KEY_FILE'
  >
>;

/** Undefined: the Redis protocol is disabled. */
export function respOf(settings: Settings): RespConfig | undefined {
  const { LEAF_RESP_PORT: port, LEAF_RESP_HOST: host = '' } = settings;
  const { LEAF_RESP_TLS_CERT_FILE: certFile, LEAF_RESP_TLS_KEY_FILE: keyFile } = settings;
  if (port === undefined) return undefined;
  return { host, port, tls: certFile === undefined || keyFile === undefined ? undefined : { certFile, keyFile } };
}

export function respFaults(settings: Settings): string[] {
  const { LEAF_RESP_PORT: port, LEAF_PORT: http, LEAF_MANAGEMENT_PORT: management } = settings;
  const { LEAF_RESP_TLS_CERT_FILE: certFile, LEAF_RESP_TLS_KEY_FILE: keyFile } = settings;
  const faults: string[] = [];
  if (port !== undefined && port !== 0 && (port === http || port === management)) {
    faults.push('LEAF_RESP_PORT must differ from LEAF_PORT and LEAF_MANAGEMENT_PORT');
  }
  if ((certFile === undefined) !== (keyFile === undefined)) {
    faults.push('LEAF_RESP_TLS_CERT_FILE and LEAF_RESP_TLS_KEY_FILE must be set together');
  }
  return faults;
}
