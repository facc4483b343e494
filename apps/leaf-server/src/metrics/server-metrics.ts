import { hostname } from 'node:os';
import type { Metric } from '@leaf-ids/id/internal';
import type { LeafLogger } from '../config/logging';
import type { OverloadCounts } from '../http/overload/refusals';
import type { RequestCounts } from '../http/request-counts';
import type { Exhaustion } from '../monitor/sampling/issue-rates';
import { isReady, type ProcessStatus } from '../lifecycle/readiness';

/** Sources of the metrics of a server, besides those of its IDs. */
export interface ServerFigures {
  readonly status: ProcessStatus;
  readonly requests: RequestCounts;
  readonly overload: OverloadCounts;
  readonly logger: LeafLogger;
  readonly exhaustion: Exhaustion;
  readonly version: string;
  /** Name of the service. */
  readonly name: string;
}

export const SERVER_METRICS: readonly Metric<ServerFigures>[] = [
  {
    name: 'leaf_http_requests_total',
    type: 'counter',
    help: 'Requests answered',
    labels: ['route', 'status'],
    read: ({ requests }) =>
      requests.all().map(({ route, status, requests: value }) => ({ labels: { route, status }, value })),
  },
  {
    name: 'leaf_http_request_duration_seconds',
    type: 'histogram',
    help: 'Time from receiving a request to its response',
    labels: ['route', 'status'],
    read: ({ requests }) =>
      requests.all().map(({ route, status, latency }) => ({
        labels: { route, status },
        times: latency.snapshot(),
      })),
  },
  {
    name: 'leaf_resp_commands_total',
    type: 'counter',
    help: 'Commands answered',
    labels: ['command', 'status'],
    read: ({ requests }) =>
      requests
        .all('resp')
        .map(({ route: command, status, requests: value }) => ({ labels: { command, status }, value })),
  },
  {
    name: 'leaf_resp_command_duration_seconds',
    type: 'histogram',
    help: 'Time from receiving a command to its answer',
    labels: ['command', 'status'],
    read: ({ requests }) =>
      requests.all('resp').map(({ route: command, status, latency }) => ({
        labels: { command, status },
        times: latency.snapshot(),
      })),
  },
  {
    name: 'leaf_overload_refusals_total',
    type: 'counter',
    help: 'Requests and connections refused because of overload',
    labels: ['reason'],
    read: ({ overload }) => [...overload.all()].map(([reason, value]) => ({ labels: { reason }, value })),
  },
  {
    name: 'leaf_requests_in_flight',
    type: 'gauge',
    help: 'ID requests that wait or are in progress',
    read: ({ overload }) => overload.inFlight,
  },
  {
    name: 'leaf_ready',
    type: 'gauge',
    help: '1 while the server is ready',
    shared: 'least',
    // A process that takes no connections yet does not count.
    read: ({ status }) => (status.listening ? Number(isReady(status)) : undefined),
  },
  {
    name: 'leaf_draining',
    type: 'gauge',
    help: '1 while the server is draining',
    shared: 'most',
    read: ({ status }) => Number(status.drain.status === 'down'),
  },
  {
    name: 'leaf_log_lines_dropped_total',
    type: 'counter',
    help: 'Log lines that could not be written',
    read: ({ logger }) => logger.dropped,
  },
  {
    name: 'leaf_build_info',
    type: 'gauge',
    help: 'Version of the server; the value is always 1',
    labels: ['version'],
    shared: 'most',
    read: ({ version }) => [{ labels: { version }, value: 1 }],
  },
  {
    name: 'leaf_cluster_info',
    type: 'gauge',
    help: 'Cluster of the server: servers with equal labels share tags or worker IDs',
    labels: ['name', 'storage'],
    shared: 'most',
    read: ({ name, status }) => [{ labels: { name, storage: storageOf(status) }, value: 1 }],
  },
  {
    name: 'leaf_segment_exhaustion_min_seconds',
    type: 'gauge',
    help: 'Shortest time until the buffered IDs of a tag run out',
    read: ({ exhaustion }) => exhaustion.leastSeconds,
  },
  {
    name: 'leaf_segment_tags_short',
    type: 'gauge',
    help: 'Tags whose buffered IDs run out in less than ten minutes',
    read: ({ status, exhaustion }) => status.leaf.segment && exhaustion.shortTags,
  },
];

/** The database, or without segment mode the worker registry. Files belong to one host. */
function storageOf({ leaf: { database, registry } }: ProcessStatus): string {
  const { description = '' } = database ?? registry ?? {};
  return /sqlite:|^local\b/.test(description) ? `${description} on ${hostname()}` : description;
}
