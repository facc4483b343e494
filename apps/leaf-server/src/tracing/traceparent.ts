import type { IncomingHttpHeaders } from 'node:http';
import type * as Api from '@opentelemetry/api';

/** version, trace, parent, flags; a later version may have more. */
const TRACEPARENT = /^(?!ff)([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;

/** The caller's span, of the W3C headers `traceparent` and `tracestate`; none when they are not valid. */
export function readTraceparent({ traceparent, tracestate }: IncomingHttpHeaders, api: typeof Api): Api.Context {
  const found = typeof traceparent === 'string' ? TRACEPARENT.exec(traceparent.trim()) : null;
  if (found === null) return api.ROOT_CONTEXT;
  const [, version = '', traceId = '', spanId = '', flags = '', more] = found;
  const span: Api.SpanContext = {
    traceId,
    spanId,
    traceFlags: parseInt(flags, 16) & api.TraceFlags.SAMPLED,
    isRemote: true,
    ...(typeof tracestate === 'string' ? { traceState: api.createTraceState(tracestate) } : {}),
  };
  if ((version === '00' && more !== undefined) || !api.isSpanContextValid(span)) return api.ROOT_CONTEXT;
  return api.trace.setSpanContext(api.ROOT_CONTEXT, span);
}
