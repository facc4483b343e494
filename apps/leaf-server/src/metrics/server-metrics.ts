import type { Drain } from '../lifecycle/drain';
import type { Readiness } from '../lifecycle/readiness';
import type { Families } from './families';
import type { OverloadCounts } from '../http/overload/overload-counts';
import type { RequestCounts } from '../http/request-counts';

export function addServerMetrics(
  families: Families,
  requests: RequestCounts,
  overload: OverloadCounts,
  readiness: Readiness,
  drain: Drain,
  version: string,
): void {
  families.counter('leaf_http_requests_total', 'Requests answered', () =>
    [...requests.all()].map(({ route, status, requests: value }) => ({ labels: { route, status }, value })),
  );
  families.histogram('leaf_http_request_duration_seconds', 'Time from a request to its answer', () =>
    [...requests.all()].map(({ route, status, latency }) => ({ labels: { route, status }, times: latency.snapshot() })),
  );
  families.counter('leaf_overload_refusals_total', 'Requests and connections turned away', () =>
    [...overload.all()].map(([reason, value]) => ({ labels: { reason }, value })),
  );
  families.gauge('leaf_requests_in_flight', 'Requests that wait or are being answered', () => overload.inFlight);
  families.gauge('leaf_ready', '1 while requests may come', () => readyOf(readiness), 'least');
  families.gauge('leaf_draining', '1 while this server wants no more requests', () => (drain.active ? 1 : 0), 'most');
  families.gauge('leaf_build_info', 'What runs here', () => [{ labels: { version }, value: 1 }], 'most');
}

/** What a process that takes no connections yet says does not count. */
function readyOf({ listening, ready }: Readiness): number | undefined {
  if (!listening) return undefined;
  return ready ? 1 : 0;
}
