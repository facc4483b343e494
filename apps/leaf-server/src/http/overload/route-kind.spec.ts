import { routeKind } from './route-kind';

describe('routeKind', () => {
  it.each([
    ['GET', '/api/segment/get/:tag', 'id'],
    ['HEAD', '/api/segment/period/:tag', 'id'],
    ['GET', '/api/snowflake/decode/:id', 'id'],
    ['GET', '/decodeSnowflakeId', 'id'],
    ['GET', undefined, 'id'],
    ['POST', undefined, 'id'],
    ['GET', '/health/ready', 'probe'],
    ['GET', '/api/internal/time', 'probe'],
    ['GET', '/api/internal/server', 'peer'],
    ['GET', '/api/cluster', 'costly'],
    ['POST', '/api/cluster/orders', 'command'],
    ['GET', '/metrics', 'costly'],
    ['HEAD', '/api/tags', 'costly'],
    ['GET', '/api/tags/:tag', 'costly'],
    ['GET', '/api/monitor/segments', 'costly'],
    ['GET', '/assets/:name', 'costly'],
    ['GET', '/a-route-of-tomorrow', 'costly'],
    ['GET', '/api/monitor/stream', 'endless'],
    ['POST', '/api/tags', 'command'],
    ['DELETE', '/api/server/drain', 'command'],
    ['PATCH', '/api/tags/:tag', 'command'],
    ['POST', '/api/workers', 'window'],
    ['PUT', '/api/workers/:lease', 'window'],
    ['GET', '/api/workers', 'costly'],
    ['PUT', '/api/numbers/:tag', 'number'],
    ['GET', '/api/numbers/:tag/:key', 'number'],
    ['POST', '/api/numbers/:tag/:key/void', 'number'],
    ['GET', '/api/numbers/:tag', 'costly'],
    ['GET', '/api/numbers/:tag/audit', 'costly'],
  ])('of %s %s is %s', (method, route, kind) => {
    expect(routeKind(method, route)).toBe(kind);
  });
});
