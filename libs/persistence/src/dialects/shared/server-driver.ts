import { readFileSync } from 'node:fs';
import { LeafError } from '@leaf-ids/core';
import { messageOf } from '@leaf-ids/core/internal';
import type { ServerAddress } from './dialect';

interface TlsOptions {
  readonly rejectUnauthorized: boolean;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** The remedy for a server that cannot be used. */
export const SERVER_ADVICE =
  'Check the address and credentials in the option database. The user must be allowed to create tables; otherwise create them yourself and set the option migrate to false.';

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
      `The file of ${parameter} cannot be read: ${messageOf(error)}. Specify a PEM file that this user can read.`,
      { cause: error },
    );
  }
}

/** The error for a driver that is not installed, or does not load. */
export function missingDriver(name: string, needed: string, cause: unknown): LeafError {
  const [reason] = messageOf(cause).split('\n');
  const message = `${needed} the package ${name}, which cannot be loaded: ${reason}. Run npm install ${name}.`;
  return new LeafError('LEAF_CONFIG_INVALID', message, { cause });
}
