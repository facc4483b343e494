import type { HttpReply } from '@leaf-ids/core/internal';
import { parseReport } from './report-shape';
import type { ClusterServer } from './views';

/** Statuses of a server that does not accept the token; with 429 it compares none for the rest of a minute. */
const REFUSALS = [401, 403, 429];

/** What the response of the server `instance` shows, with what to do if it is not a report. */
export function viewOfReply({ status, text }: HttpReply, instance: string): Omit<ClusterServer, 'instance' | 'self'> {
  if (REFUSALS.includes(status)) {
    const reason = `The server does not accept the cluster token of this server (status ${status}). Set the same LEAF_CLUSTER_TOKEN on both.`;
    return { state: 'refused', reason };
  }
  if (status !== 200) {
    return silent(
      `The server responded with status ${status}. Check that it has this version of Leaf, and the same LEAF_MANAGEMENT_PORT.`,
    );
  }
  const found = parseReport(text);
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
