import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Clock, LeafError } from '@leaf-ids/core';
import { HttpEndpoint, type HttpReply, isServerUrl } from '@leaf-ids/core/internal';
import { LEAF_CONFIG } from '../config/config.module';
import type { LeafConfig } from '../config/leaf-config';
import { ClusterTokens, type PeerRequest } from '../tokens/cluster-tokens';

/** Servers that are asked at once. */
export const PARALLEL = 8;

export const NO_TOKEN = 'LEAF_CLUSTER_TOKEN is not set. Set the same token on all servers.';

const OPTIONS = { maxBytes: 65_536, keepAliveMs: 3000 };

/** Sends requests that the cluster token signs to other servers, over their management ports. */
@Injectable()
export class PeerClient implements OnApplicationShutdown {
  private readonly endpoints = new Map<string, HttpEndpoint>();

  constructor(
    @Inject(LEAF_CONFIG) private readonly config: Pick<LeafConfig, 'management'>,
    private readonly tokens: ClusterTokens,
    private readonly clock: Clock,
  ) {}

  /** Whether there is a cluster token to sign with. */
  get isEnabled(): boolean {
    return this.tokens.canSign;
  }

  /**
   * @param instance `ip:port` of a server that the registry lists
   * @param by who has ordered it
   * @throws LeafError `LEAF_CONFIG_INVALID` if nothing was sent; Error if there is no response within the time limit
   */
  async request(instance: string, request: PeerRequest, limitMs: number, by?: string): Promise<HttpReply> {
    const endpoint = this.endpointOf(instance);
    const jwt = this.tokens.sign(instance, request, by);
    if (jwt === undefined) throw new LeafError('LEAF_CONFIG_INVALID', NO_TOKEN);
    return endpoint.request({ ...request, headers: { authorization: `Bearer ${jwt}` } }, limitMs);
  }

  /** URL for operators of a server: all servers of a cluster have the same management port. */
  urlOf(instance: string): string {
    const port = this.config.management?.port ?? 0;
    return `http://${port === 0 ? instance : instance.replace(/:\d+$/, `:${port}`)}`;
  }

  /** Closes the connections to all other servers. */
  retain(instances: ReadonlySet<string>): void {
    for (const [instance, endpoint] of this.endpoints) {
      if (instances.has(instance)) continue;
      endpoint.close();
      this.endpoints.delete(instance);
    }
  }

  onApplicationShutdown(): void {
    this.retain(new Set());
  }

  private endpointOf(instance: string): HttpEndpoint {
    const known = this.endpoints.get(instance);
    if (known !== undefined) return known;
    const url = this.urlOf(instance);
    if (!isServerUrl(url)) {
      throw new LeafError(
        'LEAF_CONFIG_INVALID',
        `The registry has no valid address for this server: ${instance}. Nothing was sent.`,
      );
    }
    const endpoint = new HttpEndpoint(new URL(url), OPTIONS, this.clock);
    this.endpoints.set(instance, endpoint);
    return endpoint;
  }
}
