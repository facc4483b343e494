import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERROR_CATALOGUE } from '@leaf-ids/core';
import { call } from '../../support/http/http';
import { LogLines } from '../../support/log-lines';
import { ApiContract, fetchApi } from '../../support/openapi/contract';
import type { ApiDescription } from '../../support/openapi/document';
import { faultsOfDocument } from '../../support/openapi/document-rules';
import { routesOf } from '../../support/openapi/server-routes';
import { problemCode, statusesOf } from '../../support/http/problem';
import { startTestServer, type TestServer } from '../../support/servers/server';

let server: TestServer;
let registered: string[];
let document: ApiDescription;
let contract: ApiContract;

beforeAll(async () => {
  ({ started: server, routes: registered } = await routesOf(() => startTestServer()));
  document = await fetchApi(server.port);
  contract = new ApiContract(document);
});

afterAll(() => server.stop());

describe('the document', () => {
  it('is OpenAPI 3.0', () => {
    expect(faultsOfDocument(document)).toStrictEqual([]);
  });

  it('has every route of the running server, and no other', () => {
    const described = contract.routes.map(({ method, path }) => `${method} ${path.replace(/\{(\w+)\}/g, ':$1')}`);
    expect(registered.length).toBeGreaterThan(15);
    expect(described.sort()).toEqual(registered);
  });

  it('says of every route what it is for, and what a success is', () => {
    for (const { operation } of contract.routes) {
      expect([operation.operationId, operation.summary]).toEqual([
        operation.operationId,
        expect.stringMatching(/^[A-Z].*[^.]$/),
      ]);
      expect(Object.keys(operation.responses).filter((status) => status < '300')).toHaveLength(
        ['acquireWorker', 'issueNumber', 'issueNumbers'].includes(operation.operationId) ? 2 : 1,
      );
    }
  });

  it('asks for a token where the server does', async () => {
    for (const { method, path, operation } of contract.routes) {
      const { status } = await call(server.port, path.replace(/\{\w+\}/g, 'order'), { method });
      // Worker windows are disabled on this server.
      const guarded = [401, 403, 429].includes(status);
      expect([path, operation.security]).toEqual([path, guarded ? [{ bearer: [] }] : undefined]);
    }
  });

  it('tells every problem with the status and title of the catalogue', () => {
    let told = 0;
    for (const { operation } of contract.routes) {
      for (const [status, { content }] of Object.entries(operation.responses)) {
        const parts = content?.['application/problem+json']?.schema.allOf ?? [];
        for (const { properties } of parts.filter(({ $ref }) => $ref === undefined)) {
          const codes = properties?.code?.enum as (keyof typeof ERROR_CATALOGUE)[];
          told += codes.length;
          for (const code of codes) expect(statusesOf(code)).toContain(Number(status));
          expect(properties?.title?.enum).toEqual([...new Set(codes.map((code) => ERROR_CATALOGUE[code].title))]);
        }
      }
    }
    expect(told).toBeGreaterThan(100);
  });

  it('says of every 503 when to ask again', () => {
    const answers = contract.routes.flatMap(({ operation }) => operation.responses[503] ?? []);
    expect(answers.length).toBeGreaterThan(5);
    for (const { headers } of answers) expect(headers?.['Retry-After']).toMatchObject({ required: true });
  });

  it('is of the version of the package', () => {
    const { version } = JSON.parse(readFileSync(join(__dirname, '../../../package.json'), 'utf8')) as {
      version: string;
    };
    expect(document.info.version).toBe(version);
  });

  it('names no two schemas alike', async () => {
    const log = new LogLines();
    const other = await startTestServer({ LEAF_LOG_LEVEL: 'warn' });
    try {
      await fetchApi(other.port);
      expect(log.all.filter((line) => line.includes('Duplicate DTO'))).toStrictEqual([]);
    } finally {
      await other.stop();
      log.end();
    }
  });

  it('is the same for two servers of one process', async () => {
    const other = await startTestServer();
    try {
      expect(await fetchApi(other.port)).toEqual(document);
    } finally {
      await other.stop();
    }
  });
});

describe('the page', () => {
  it('is Swagger UI, of files of this server alone', async () => {
    const { headers, body } = await call(server.port, '/docs');
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
    expect(body).not.toMatch(/<style|<iframe|<form|\sstyle=|\son\w+=|javascript:|\/\/|<script>/i);
    const loaded = [...body.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, target]) => target as string);
    const files = contract.route('docsFile').operation.parameters?.[0]?.schema.enum ?? [];
    expect(loaded.sort()).toEqual(files.map((name) => `docs/${name}`).sort());
    for (const file of loaded) {
      const answer = await call(server.port, `/${file}`);
      expect([file, answer.status]).toEqual([file, 200]);
      expect(contract.faultOf(contract.route('docsFile'), answer)).toBeUndefined();
    }
  });

  it('is found with a trailing slash, also under the prefix of a proxy', async () => {
    const { status, headers } = await call(server.port, '/docs/');
    expect([status, headers.location]).toEqual([308, '../docs']);
    expect(new URL(headers.location!, 'https://host/leaf/docs/').pathname).toBe('/leaf/docs');
  });

  it('starts with the document of this server, and asks no validator elsewhere', async () => {
    const { headers, body } = await call(server.port, '/docs/start.js');
    expect(headers['content-type']).toBe('text/javascript; charset=utf-8');
    expect(body).toContain("url: 'openapi.json'");
    expect(body).toContain('validatorUrl: null');
  });

  it.each(['package.json', 'index.html', 'swagger-ui-bundle.js.map', '..%2Fpackage.json', 'constructor'])(
    'gives no other file of the package: %s',
    async (name) => {
      const answer = await call(server.port, `/docs/${name}`);
      expect([answer.status, problemCode(answer)]).toEqual([404, 'LEAF_NOT_FOUND']);
    },
  );
});
