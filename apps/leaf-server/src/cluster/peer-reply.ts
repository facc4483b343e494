import { type HttpReply, parseProblem } from '@leaf-ids/core/internal';
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
