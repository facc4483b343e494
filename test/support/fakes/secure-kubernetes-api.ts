import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../servers/services';
import { settle } from '../servers/server-registries';
import { requireTool } from '../tools';
import { KubernetesApi } from './kubernetes-api';

/** Starts the stand-in over TLS with a certificate of its own, and a registry whose grace period has passed. */
export async function startSecureApi(): Promise<KubernetesApi> {
  const directory = await mkdtemp(join(tmpdir(), 'leaf-kubernetes-tls-'));
  try {
    const [cert, key] = [join(directory, 'cert.pem'), join(directory, 'key.pem')];
    const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-keyout', key, '-out', cert];
    const subject = ['-subj', '/CN=kubernetes', '-addext', 'subjectAltName=IP:127.0.0.1'];
    await run(await requireTool('openssl'), [...request, ...subject]);
    const api = await KubernetesApi.start({ cert: await readFile(cert, 'utf8'), key: await readFile(key, 'utf8') });
    await copyFile(cert, join(api.directory, 'ca.crt'));
    const access = { server: api.url, directory: api.directory };
    await settle({ strategy: 'kubernetes', kubernetes: access, name: 'leaf' });
    return api;
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** What Kubernetes gives a pod to reach the API server. */
export function environmentOf({ port, directory }: KubernetesApi): NodeJS.ProcessEnv {
  return {
    KUBERNETES_SERVICE_HOST: '127.0.0.1',
    KUBERNETES_SERVICE_PORT: String(port),
    LEAF_KUBERNETES_DIR: directory,
  };
}
