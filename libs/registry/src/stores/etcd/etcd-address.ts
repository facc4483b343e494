import { InvalidValueError } from '@leaf-ids/core/internal';
import type { CertificateFiles } from '../shared/certificate-files';

const DEFAULT_PORT = '2379';

/** How to reach etcd. The files are read when a connection is opened. */
export interface EtcdAccess extends CertificateFiles {
  /** `https://host:port,https://host:port`, or `http`. */
  readonly endpoints: string;
  /** `user:password`. */
  readonly auth?: string;
  /** Limit for a request to one endpoint, in milliseconds; 1500 by default. */
  readonly timeoutMs?: number;
}

/** User and password of etcd. */
export interface EtcdCredentials {
  readonly user: string;
  /** A secret. */
  readonly password: string;
}

/**
 * Parses `https://host:port,https://host:port`. The port defaults to 2379.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID`
 */
export function parseEtcdEndpoints(text: string): URL[] {
  return text.split(',').map((part) => {
    const given = part.trim();
    const url = /^https?:\/\//.test(given) && URL.canParse(given) ? new URL(given) : undefined;
    const isBare = url?.username === '' && url.password === '' && url.search === '' && url.hash === '';
    if (url === undefined || !isBare || url.pathname !== '/') {
      throw new InvalidValueError(
        'etcd endpoints',
        'must be https://host:port or http://host:port, separated by commas, without a path or credentials',
      );
    }
    // A URL omits the port that its scheme implies.
    if (url.port === '' && !/:\d+\/?$/.test(given)) url.port = DEFAULT_PORT;
    return url;
  });
}

/**
 * Parses `user:password`.
 *
 * @throws LeafError `LEAF_CONFIG_INVALID`; the message does not contain the credentials
 */
export function parseEtcdAuth(text: string): EtcdCredentials {
  const [, user, password] = /^([^:]+):(.+)$/s.exec(text) ?? [];
  if (user === undefined || password === undefined) {
    throw new InvalidValueError('etcd authentication', 'must be user:password');
  }
  return { user, password };
}
