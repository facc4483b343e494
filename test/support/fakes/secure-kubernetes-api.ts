import { settle } from '../servers/server-registries';
import { KubernetesApi } from './kubernetes-api';

/** Starts the stand-in over TLS with a certificate of its own, and a registry whose grace period has passed. */
export async function startSecureApi(): Promise<KubernetesApi> {
  const api = await KubernetesApi.start({ secure: true });
  const access = { server: api.url, directory: api.directory };
  await settle({ strategy: 'kubernetes', kubernetes: access, name: 'leaf' });
  return api;
}

/** What Kubernetes gives a pod to reach the API server. */
export function environmentOf({ port, directory }: KubernetesApi): NodeJS.ProcessEnv {
  return {
    KUBERNETES_SERVICE_HOST: '127.0.0.1',
    KUBERNETES_SERVICE_PORT: String(port),
    LEAF_KUBERNETES_DIR: directory,
  };
}
