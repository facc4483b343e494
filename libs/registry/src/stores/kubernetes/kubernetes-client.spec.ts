import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemClock } from '@leaf-ids/core';
import { KubernetesClient } from './kubernetes-client';

const UNREACHABLE = { code: 'LEAF_REGISTRY_UNREACHABLE' };

/** Records the pauses, which take no time. */
class PausingClock extends SystemClock {
  readonly pauses: number[] = [];

  override sleep(ms: number): Promise<void> {
    this.pauses.push(ms);
    return Promise.resolve();
  }
}

interface Answer {
  readonly status: number;
  readonly body?: object | string;
  readonly headers?: Record<string, string>;
}

describe('the client of Kubernetes', () => {
  let directory: string;
  let server: Server;
  let client: KubernetesClient;
  let clock: PausingClock;
  /** Given in this order, the last one again and again; `lost` ends the connection. */
  let answers: (Answer | 'lost')[];
  let received: { readonly request: IncomingMessage; readonly body: string }[];

  beforeEach(async () => {
    [answers, received, clock] = [[{ status: 200, body: {} }], [], new PausingClock()];
    directory = await mkdtemp(join(tmpdir(), 'leaf-kubernetes-'));
    await writeFile(join(directory, 'namespace'), 'my shop\n');
    await writeFile(join(directory, 'token'), 'secret\n');
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (part: Buffer) => (body += part.toString()));
      request.on('end', () => {
        received.push({ request, body });
        const answer = (answers.length > 1 ? answers.shift() : answers[0])!;
        if (answer === 'lost') return void response.destroy();
        const { status, body: given = {}, headers } = answer;
        response.writeHead(status, headers).end(typeof given === 'string' ? given : JSON.stringify(given));
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    client = open();
  });
  afterEach(async () => {
    client.close();
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
    await rm(directory, { recursive: true });
  });

  function open(from = directory): KubernetesClient {
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    return new KubernetesClient({ server: url, directory: from, callMs: 10_000 }, clock);
  }

  it('asks for the Leases of the namespace, as the service account', async () => {
    answers = [{ status: 201, body: { kind: 'Lease' } }];
    expect(await client.call('POST', '/x', { a: 1 })).toEqual({
      status: 201,
      body: { kind: 'Lease' },
      repeated: false,
    });
    const [{ request, body }] = received as [(typeof received)[number]];
    expect([request.method, request.url]).toEqual([
      'POST',
      '/apis/coordination.k8s.io/v1/namespaces/my%20shop/leases/x',
    ]);
    expect(request.headers).toMatchObject({
      ...{ accept: 'application/json', authorization: 'Bearer secret', 'content-type': 'application/json' },
    });
    expect(body).toBe('{"a":1}');
    await client.call('GET', '?limit=1');
    expect(received[1]?.request.headers).not.toHaveProperty('content-type');
    expect(received[1]?.body).toBe('');
    expect(client.description).toBe(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  });

  it.each([
    ['GET', 200],
    ['POST', 201],
    ['POST', 409],
    ['GET', 410],
    ['PUT', 404],
  ])('takes for the result of %s the status %d', async (method, status) => {
    answers = [{ status, body: 'not JSON' }];
    expect(await client.call(method, '')).toEqual({ status, body: {}, repeated: false });
    expect(received).toHaveLength(1);
  });

  it.each([
    ['GET', 404],
    ['POST', 404],
    ['PUT', 400],
    ['PUT', 422],
    ['GET', 499],
  ])('takes for a refusal of %s the status %d', async (method, status) => {
    answers = [{ status, body: { message: 'no' } }];
    const message = `Cannot use the worker registry ${client.description}. Status ${status}: no.`;
    await expect(client.call(method, '')).rejects.toMatchObject({ code: 'LEAF_CONFIG_INVALID', message });
    expect(received).toHaveLength(1);
  });

  it('names the rights that are missing, and a status without a message', async () => {
    answers = [{ status: 403, body: { message: 5 } }];
    const message = expect.stringMatching(/\. Status 403\. The service account of the pod needs a Role/) as string;
    await expect(client.call('GET', '')).rejects.toMatchObject({ code: 'LEAF_CONFIG_INVALID', message });
  });

  it.each<Answer | 'lost'>([
    'lost',
    { status: 500 },
    { status: 503 },
    { status: 429 },
    // The token has expired.
    { status: 401 },
  ])('sends a request again after %j, and says that it may have been executed twice', async (answer) => {
    answers = [answer, answer, { status: 200, body: { a: 1 } }];
    expect(await client.call('PUT', '')).toEqual({ status: 200, body: { a: 1 }, repeated: true });
    expect(clock.pauses).toEqual([0, 0]);
    [answers, received] = [[answer], []];
    await expect(client.call('PUT', '')).rejects.toMatchObject({ ...UNREACHABLE, retryAfterMs: 1000 });
    expect(received).toHaveLength(3);
  });

  it.each<[string, number[], number]>([
    ['0', [0, 0], 1000],
    ['3', [3000, 3000], 3000],
    ['40', [5000, 5000], 40_000],
    ['Fri, 31 Dec 2027 23:59:59 GMT', [0, 0], 1000],
  ])('waits as a busy server asks for with Retry-After: %s', async (retryAfter, pauses, retryAfterMs) => {
    answers = [{ status: 429, body: { message: 'too many' }, headers: { 'retry-after': retryAfter } }];
    const message = expect.stringContaining('is unavailable. Status 429: too many. This server retries') as string;
    await expect(client.call('GET', '')).rejects.toMatchObject({ ...UNREACHABLE, retryAfterMs, message });
    expect(clock.pauses).toEqual(pauses);
  });

  it('sends nothing after it was closed', async () => {
    answers = [{ status: 500 }];
    server.once('request', () => client.close());
    await expect(client.call('GET', '')).rejects.toMatchObject(UNREACHABLE);
    await expect(client.call('GET', '')).rejects.toMatchObject(UNREACHABLE);
    expect(received.length).toBeLessThan(2);
    expect(clock.pauses).toStrictEqual([]);
  });

  it('reads the clock of the server, to half a second', async () => {
    const [source] = client.timeSources();
    expect(source?.name).toBe('the API server of Kubernetes');
    answers = [{ status: 200, headers: { date: 'Tue, 14 Nov 2023 22:13:20 GMT' } }];
    expect(await source?.ask()).toBe(1_700_000_000_500);
    expect(received[0]?.request.url).toMatch(/\/leases\?limit=1$/);
    answers = [{ status: 200, headers: { date: 'soon' } }];
    await expect(source?.ask()).rejects.toThrow('the response has no date');
  });

  it.each(['namespace', 'token'])('names the file %s that is not mounted', async (file) => {
    await rm(join(directory, file));
    const reason = `cannot read ${join(directory, file)}; the pod needs automountServiceAccountToken: true`;
    await expect(client.call('GET', '')).rejects.toMatchObject({
      ...{ ...UNREACHABLE, message: expect.stringContaining(reason) as string },
    });
    await expect(client.timeSources()[0]?.ask()).rejects.toMatchObject({ message: reason, cause: { code: 'ENOENT' } });
  });
});
