import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Clock, LeafError } from '@leaf-ids/core';
import { HttpEndpoint, type HttpReply, isServerUrl, parseProblem } from '@leaf-ids/core/internal';
import { LEAF_CONFIG } from '../config/config.module';
import type { LeafConfig } from '../config/leaf-config';
import { ClusterTokens, type PeerRequest } from '../tokens/cluster-tokens';
import { parseReport } from './report-shape';
import type { ClusterServer } from './views';

/** Result of the latest request to a server. */
export type PeerStatus = Omit<ClusterServer, 'instance' | 'self'>;

/** Statuses of a server that does not accept the signature: 429 after ten failures from this address within a minute. */
const REFUSALS = [401, 403, 429];

/** Why a response is not what this server has asked for, and what to do. */
export function refusalOf({ status, headers, text }: HttpReply): string {
  if (REFUSALS.includes(status)) {
    return `The server does not accept the cluster token of this server (status ${status}). Set the same LEAF_CLUSTER_TOKEN on both servers. Check that their clocks differ by less than a minute, and that the other server advertises the address under which the registry lists it.`;
  }
  const detail = parseProblem(headers['content-type'] ?? '', text)?.detail;
  return `The server responded with status ${status}. ${detail ?? 'Check that it has this version of Leaf, and the same LEAF_MANAGEMENT_PORT.'}`;
}

/** The view of a response of the server `instance`, with the next step if it is not a report. */
export function viewOfReply(reply: HttpReply, instance: string): PeerStatus {
  if (REFUSALS.includes(reply.status)) return { state: 'refused', reason: refusalOf(reply) };
  if (reply.status !== 200) return silent(refusalOf(reply));
  const found = parseReport(reply.text);
  if (found === undefined) return silent('The response is not a report of a Leaf server. Check what listens there.');
  const { instance: name } = found;
  if (name === instance) return found;
  return silent(
    `Another server, ${name}, responds at this address. Check LEAF_ADVERTISE_HOST and LEAF_ADVERTISE_PORT.`,
  );
}

function silent(reason: string): { readonly state: 'silent'; readonly reason: string } {
  return { state: 'silent', reason };
}

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
   * @param by who gave the command
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
