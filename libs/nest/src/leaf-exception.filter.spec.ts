import 'reflect-metadata';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ArgumentsHost, Controller, Get, Logger, Module, Param, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply } from 'fastify';
import { ERROR_CATALOGUE, LeafError, type LeafErrorCode } from '@leaf-ids/core';
import { serializeBigInts } from './bigint-json';
import { LeafExceptionFilter } from './leaf-exception.filter';

@Controller()
class IdController {
  @Get('refuse/:code')
  refuse(@Param('code') code: LeafErrorCode): never {
    throw new LeafError(code, `It is ${code}.`, { cause: new Error('secret'), retryAfterMs: 2500 });
  }

  @Get('break')
  break(): never {
    throw new Error('secret');
  }

  @Get('stream')
  async stream(@Res() reply: FastifyReply): Promise<never> {
    await new Promise((written) => reply.raw.write('1\n', written));
    throw new LeafError('LEAF_SEGMENT_UNAVAILABLE', 'It is used up.');
  }

  @Get('bigints')
  bigints(): unknown {
    return { id: 2n ** 63n - 1n, lines: [{ id: 1n }], at: new Date(0), count: 3, none: null };
  }
}

@Module({ controllers: [IdController] })
class HostModule {}

let app: NestFastifyApplication;

async function start(configure: (app: NestFastifyApplication) => void): Promise<void> {
  app = await NestFactory.create<NestFastifyApplication>(HostModule, new FastifyAdapter(), { logger: false });
  configure(app);
  await app.listen(0, '127.0.0.1');
}

function get(path: string): Promise<Response> {
  const { port } = app.getHttpServer().address() as AddressInfo;
  return fetch(`http://127.0.0.1:${port}/${path}`);
}

afterEach(async () => {
  jest.restoreAllMocks();
  await app.close();
});

describe('LeafExceptionFilter', () => {
  beforeEach(() => start((each) => each.useGlobalFilters(new LeafExceptionFilter())));

  it('responds with the status, the problem and the delay of a refusal', async () => {
    const answer = await get('refuse/LEAF_SEGMENT_UNAVAILABLE');
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('3');
    expect(answer.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
    expect(await answer.json()).toEqual({
      type: 'about:blank',
      title: 'No segment available',
      status: 503,
      code: 'LEAF_SEGMENT_UNAVAILABLE',
      detail: 'It is LEAF_SEGMENT_UNAVAILABLE.',
    });
  });

  it('has a delay only for refusals that can end', async () => {
    const answer = await get('refuse/LEAF_TAG_INVALID');
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([400, null]);
  });

  it('logs what only an operator can correct, and does not send it', async () => {
    const log = jest.spyOn(Logger.prototype, 'error').mockReturnValue();
    const answer = await get('refuse/LEAF_DATABASE_UNUSABLE');
    expect(answer.status).toBe(500);
    expect(await answer.json()).toMatchObject({
      code: 'LEAF_INTERNAL',
      detail: expect.not.stringContaining('DATABASE'),
    });
    expect(log).toHaveBeenCalledWith(
      'LEAF_DATABASE_UNUSABLE: It is LEAF_DATABASE_UNUSABLE; cause: secret',
      expect.stringContaining('IdController'),
    );
  });

  it.each<[LeafErrorCode, number, LeafErrorCode, string]>([
    ['LEAF_UNAUTHORIZED', 500, 'LEAF_INTERNAL', 'Internal server error. See the log of the server.'],
    ['LEAF_FORBIDDEN', 500, 'LEAF_INTERNAL', 'Internal server error. See the log of the server.'],
    ['LEAF_SERVERS_UNAVAILABLE', 503, 'LEAF_SERVERS_UNAVAILABLE', 'No server available.'],
  ])('logs %s of a LeafClient, and does not send its message', async (code, status, sent, detail) => {
    const log = jest.spyOn(Logger.prototype, 'error').mockReturnValue();
    const answer = await get(`refuse/${code}`);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([status, status === 503 ? '3' : null]);
    expect(await answer.json()).toMatchObject({ status, code: sent, detail });
    expect(log).toHaveBeenCalledWith(`${code}: It is ${code}; cause: secret`, expect.stringContaining('IdController'));
  });

  it('logs an error after the response has begun, and aborts the response', async () => {
    const log = jest.spyOn(Logger.prototype, 'error').mockReturnValue();
    const answer = await get('stream');
    expect(answer.status).toBe(200);
    await expect(answer.text()).rejects.toThrow('terminated');
    expect(log).toHaveBeenCalledWith('LEAF_SEGMENT_UNAVAILABLE: It is used up.', expect.any(String));
    expect((await get('bigints')).status).toBe(500);
  });

  it('aborts a response of Express that has begun', async () => {
    const log = jest.spyOn(Logger.prototype, 'error').mockReturnValue();
    // Express adds its methods to the response of Node.js.
    const fail = (response: ServerResponse): void => {
      const host = { getType: () => 'http', switchToHttp: () => ({ getResponse: () => response }) };
      const error = new LeafError('LEAF_NOT_READY', 'It stops.');
      new LeafExceptionFilter().catch(error, host as unknown as ArgumentsHost);
    };
    const server = createServer((_, response) => void response.write('1\n', () => fail(response)));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    try {
      const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
      await expect(answer.text()).rejects.toThrow('terminated');
      expect(log).toHaveBeenCalledWith('LEAF_NOT_READY: It stops.', expect.any(String));
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it('leaves other errors, and other protocols, to Nest', async () => {
    expect(await (await get('break')).json()).toEqual({ statusCode: 500, message: 'Internal server error' });
    const switchToHttp = jest.fn();
    const host = { getType: () => 'rpc', switchToHttp } as unknown as ArgumentsHost;
    new LeafExceptionFilter().catch(new LeafError('LEAF_NOT_READY', 'x'), host);
    expect(switchToHttp).not.toHaveBeenCalled();
  });
});

describe('Nest without the filter', () => {
  const UNEXPOSED = new Set<LeafErrorCode>([
    'LEAF_UNAUTHORIZED',
    'LEAF_FORBIDDEN',
    'LEAF_TOO_MANY_FAILURES',
    'LEAF_WINDOWS_DISABLED',
    'LEAF_LEASE_NOT_FOUND',
    'LEAF_WORKERS_USED_UP',
    'LEAF_SERVERS_UNAVAILABLE',
  ]);

  beforeEach(() => start(() => undefined));

  it.each(Object.keys(ERROR_CATALOGUE) as LeafErrorCode[])('responds to %s with its status', async (code) => {
    const answer = await get(`refuse/${code}`);
    const { status } = UNEXPOSED.has(code) ? ERROR_CATALOGUE.LEAF_INTERNAL : ERROR_CATALOGUE[code];
    expect(answer.status).toBe(status);
    const shown = status === 500 ? 'Internal server error' : `It is ${code}.`;
    expect(await answer.json()).toEqual({ statusCode: status, message: shown });
  });
});

describe('serializeBigInts', () => {
  it('writes bigints as decimal strings', async () => {
    await start(serializeBigInts);
    expect(await (await get('bigints')).json()).toEqual({
      id: '9223372036854775807',
      lines: [{ id: '1' }],
      at: '1970-01-01T00:00:00.000Z',
      count: 3,
      none: null,
    });
  });

  it('is needed', async () => {
    await start(() => undefined);
    expect((await get('bigints')).status).toBe(500);
  });
});
