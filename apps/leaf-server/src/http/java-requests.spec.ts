import type { IncomingMessage } from 'node:http';
import { jsonId, mapAsSpring, prefersJson } from './java-requests';

function requestOf(url: string, ...rawHeaders: string[]): IncomingMessage {
  return { url, rawHeaders } as unknown as IncomingMessage;
}

describe('mapAsSpring', () => {
  it.each([
    ['/api/segment/get/order', '/api/segment/get/order'],
    ['/api/segment/get/order.v1', '/api/segment/get/order'],
    ['/api/segment/get/order%2Ev1', '/api/segment/get/order'],
    ['/api/segment/get/a.b.c', '/api/segment/get/a.b'],
    ['/api/segment/get/order.', '/api/segment/get/order'],
    ['/api/segment/get/.order', '/api/segment/get/'],
    ['/api/segment/get/order.v1/', '/api/segment/get/order.v1'],
    ['/api/segment/get/order/', '/api/segment/get/order'],
    ['/api/segment/get/order;v=1', '/api/segment/get/order'],
    ['/api/segment/get/order.v1;v=1.2', '/api/segment/get/order'],
    ['/api;x/segment/get/order', '/api/segment/get/order'],
    ['//api/segment//get/order', '/api/segment/get/order'],
    ['/api/segment/get/order//', '/api/segment/get/order'],
    ['/api/segment/get/order?size=1.5;2//', '/api/segment/get/order?size=1.5;2//'],
    ['/api/snowflake/get/event.v2?x', '/api/snowflake/get/event?x'],
    ['/decodeSnowflakeId.json?snowflakeId=1', '/decodeSnowflakeId?snowflakeId=1'],
    ['/decodeSnowflakeId/?snowflakeId=1?2', '/decodeSnowflakeId?snowflakeId=1?2'],
    ['/cache.html', '/cache'],
    ['/db/', '/db'],
    ['/api/segment/batch/order.v1?size=2', '/api/segment/batch/order.v1?size=2'],
    ['/api/tags/order.v1', '/api/tags/order.v1'],
    ['/api/segment/get/order/more.v1', '/api/segment/get/order/more.v1'],
    ['/metrics//', '/metrics//'],
    ['*', '*'],
  ])('maps %s to %s', (given, expected) => {
    const request = requestOf(given);
    mapAsSpring(request);
    expect(request.url).toBe(expected);
  });

  it('takes a suffix json for Accept, ahead of the header', () => {
    const request = requestOf('/api/segment/get/order.json', 'Accept', 'text/plain');
    mapAsSpring(request);
    expect([request.url, prefersJson(request.rawHeaders)]).toEqual(['/api/segment/get/order', true]);
    const other = requestOf('/api/segment/get/order.json/', 'Accept', 'text/plain');
    mapAsSpring(other);
    expect([other.url, prefersJson(other.rawHeaders)]).toEqual(['/api/segment/get/order.json', false]);
  });
});

describe('prefersJson', () => {
  it.each([
    ['application/json', true],
    ['application/json, application/*+json', true],
    ['Application/JSON;charset=UTF-8', true],
    ['application/json, text/plain, */*', true],
    ['text/plain;q=0.5, application/json;q=0.9', true],
    ['text/plain, application/json', false],
    ['application/json;q=0', false],
    ['*/*', false],
    ['text/html,application/xhtml+xml,*/*;q=0.8', false],
    ['', false],
    [`application/json${','.repeat(1000)}`, true],
    [`application/json${','.repeat(16_000)}`, false],
  ])('Accept: %s: %s', (accept, expected) => {
    expect(prefersJson(requestOf('/', 'Host', 'leaf', 'aCCept', accept).rawHeaders)).toBe(expected);
  });

  it('is false without the header', () => {
    expect(prefersJson(requestOf('/', 'Host', 'leaf', 'Origin', 'application/json').rawHeaders)).toBe(false);
  });
});

it('an ID is a number, or a text', () => {
  expect([jsonId('1', 'number'), jsonId('1', 'string')]).toEqual(['1', '"1"']);
});
