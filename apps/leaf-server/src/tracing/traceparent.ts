import type { IncomingHttpHeaders } from 'node:http';
import type * as Api from '@opentelemetry/api';

/** version, trace, parent, flags; a later version may have more. */
const TRACEPARENT = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/;

interface Traceparent {
  readonly traceId: string;
  readonly spanId: string;
  readonly flags: number;
}

/** The W3C header `traceparent`; undefined if it is missing or invalid. */
export function parseTraceparent({ traceparent }: IncomingHttpHeaders): Traceparent | undefined {
  const found = typeof traceparent === 'string' ? TRACEPARENT.exec(traceparent.trim()) : null;
  if (found === null) return undefined;
  const [, version = '', traceId = '', spanId = '', flags = '', more] = found;
  return version === '00' && more !== undefined ? undefined : { traceId, spanId, flags: parseInt(flags, 16) };
}

/** The caller's span, of the W3C headers `traceparent` and `tracestate`; none if they are invalid. */
export function readTraceparent(headers: IncomingHttpHeaders, api: typeof Api): Api.Context {
  const parent = parseTraceparent(headers);
  if (parent === undefined) return api.ROOT_CONTEXT;
  const { traceId, spanId, flags } = parent;
  const { tracestate } = headers;
  return api.trace.setSpanContext(api.ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: flags & api.TraceFlags.SAMPLED,
    isRemote: true,
    ...(typeof tracestate === 'string' ? { traceState: api.createTraceState(tracestate) } : {}),
  });
}
