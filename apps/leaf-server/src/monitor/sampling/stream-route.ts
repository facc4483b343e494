/** The route of the event stream, whose responses last until the client disconnects. */
export const STREAM_ROUTE = '/api/monitor/stream';
