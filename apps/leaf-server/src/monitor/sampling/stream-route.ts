/** An answer that lasts as long as its reader wants. */
export const STREAM_ROUTE = '/api/monitor/stream';
