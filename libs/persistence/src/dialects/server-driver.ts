import { readFileSync } from 'node:fs';
import { LeafError, messageOf } from '@leaf-ids/core';
import type { ServerAddress } from './dialect';

interface TlsOptions {
  readonly rejectUnauthorized: boolean;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** What to do about a server that cannot be used. */
export const SERVER_ADVICE =
  'Check its address and credentials in LEAF_DATABASE_URL or LEAF_DATABASE_URLS, and that the user may create tables, or set LEAF_DATABASE_MIGRATE=false and create them.';

/** @throws LeafError `LEAF_CONFIG_INVALID` for a file that cannot be read */
export function tlsOptions({ tls, rootCertificate, clientCertificate }: ServerAddress): TlsOptions | undefined {
  if (tls === 'off') return undefined;
  return {
    rejectUnauthorized: tls === 'verify',
    ...(rootCertificate !== undefined && { ca: readPem('sslrootcert', rootCertificate) }),
    ...(clientCertificate !== undefined && {
      cert: readPem('sslcert', clientCertificate.certificate),
      key: readPem('sslkey', clientCertificate.key),
    }),
  };
}

function readPem(parameter: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new LeafError(
      'LEAF_CONFIG_INVALID',
      `The file of ${parameter} cannot be read: ${messageOf(error)}. Name a PEM file that this user may read.`,
      { cause: error },
    );
  }
}
