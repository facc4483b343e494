import { readFile } from 'node:fs/promises';
import type { TlsCertificates } from '@leaf-ids/core/internal';

/** Files in PEM. */
export interface CertificateFiles {
  /** The trusted authorities; by default those that Node.js trusts. */
  readonly caFile?: string;
  /** Certificate of the client. */
  readonly certFile?: string;
  readonly keyFile?: string;
}

export async function readCertificates(files: CertificateFiles): Promise<TlsCertificates> {
  const { caFile, certFile, keyFile } = files;
  return {
    ...(caFile !== undefined && { ca: await readFile(caFile, 'utf8') }),
    ...(certFile !== undefined && { cert: await readFile(certFile, 'utf8') }),
    ...(keyFile !== undefined && { key: await readFile(keyFile, 'utf8') }),
  };
}
