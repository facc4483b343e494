import * as api from '@opentelemetry/api';
import { readTraceparent } from './tracing';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

function read(traceparent: string, tracestate?: string): api.SpanContext | undefined {
  const headers = tracestate === undefined ? { traceparent } : { traceparent, tracestate };
  return api.trace.getSpanContext(readTraceparent(headers, api));
}

describe('readTraceparent', () => {
  it.each([
    ['00', '-01', 1],
    ['00', '-00', 0],
    ['00', '-ff', 1],
    ['01', '-01', 1],
    ['cc', '-01-what-comes-later', 1],
  ])('reads version %s with %s', (version, end, traceFlags) => {
    expect(read(`${version}-${TRACE}-${SPAN}${end}`)).toEqual({
      traceId: TRACE,
      spanId: SPAN,
      traceFlags,
      isRemote: true,
    });
  });

  it('keeps the state of the trace', () => {
    expect(read(`00-${TRACE}-${SPAN}-01`, 'vendor=1,other=2')?.traceState?.get('other')).toBe('2');
  });

  it.each([
    '',
    TRACE,
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01-more`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}x-${SPAN}-01`,
  ])('takes %j for none', (traceparent) => {
    expect(read(traceparent)).toBeUndefined();
  });

  it('takes no header for none', () => {
    expect(readTraceparent({}, api)).toBe(api.ROOT_CONTEXT);
  });
});
