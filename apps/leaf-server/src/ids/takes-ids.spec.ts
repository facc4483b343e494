import 'reflect-metadata';
import { Controller, Get, Logger, Module } from '@nestjs/common';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Clock, LeafError } from '@leaf-ids/core';
import { FakeClock } from '@leaf-ids/core/testing';
import { type Answer, call } from '../../../../test/support/http/http';
import { nestModules } from '../../../../test/support/servers/nest-modules';
import { ClientsModule } from '../clients/clients.module';
import { LastFailure, ProblemFilter } from '../http/responses/problem';
import { TokensModule } from '../tokens/tokens.module';
import { Charged, CurrentClient, TakesIds } from './takes-ids';

const [BILLING, ADMIN] = ['billing-token-0123456789', 'admin-token-0123456789'];
const ENV = {
  LEAF_ADMIN_TOKEN: ADMIN,
  LEAF_CLIENT_TOKENS: `billing:${BILLING}`,
  LEAF_CLIENT_QUOTAS: '{"billing":{"tags":["order"],"idsPerSecond":10}}',
};

@Controller()
class Routes {
  @Get('one/:tag')
  @TakesIds()
  one(@CurrentClient() name: string): string {
    return name;
  }

  @Get('key/:key')
  @TakesIds()
  key(): string {
    return 'taken';
  }

  @Get('many/:tag')
  @TakesIds(100)
  many(): string {
    return 'taken';
  }

  @Get('look/:tag')
  @Charged(() => 0)
  look(): string {
    return 'seen';
  }

  @Get('fail/:tag')
  @TakesIds(100)
  fail(): never {
    throw new LeafError('LEAF_REQUEST_INVALID', 'It is invalid.');
  }
}

@Module({ controllers: [Routes] })
class RoutesModule {}

let app: NestFastifyApplication;
let clock: FakeClock;
let port: number;

async function start(env: NodeJS.ProcessEnv): Promise<void> {
  Logger.overrideLogger(false);
  clock = new FakeClock();
  const parts = [{ provide: Clock, useValue: clock }];
  const modules = await nestModules(env, [TokensModule, ClientsModule, RoutesModule], parts);
  app = modules.createNestApplication<NestFastifyApplication>(new FastifyAdapter());
  app.useGlobalFilters(new ProblemFilter());
  app.getHttpAdapter().getInstance().decorate('lastFailure', new LastFailure(clock));
  await app.listen(0, '127.0.0.1');
  port = Number(new URL(await app.getUrl()).port);
}
afterEach(() => app.close());

async function get(path: string, token: string | undefined = BILLING): Promise<readonly [number, string]> {
  const headers = token === '' ? {} : { authorization: `Bearer ${token}` };
  const { status, body }: Answer = await call(port, path, { headers });
  return [status, status === 200 ? body : (JSON.parse(body) as { code: string }).code];
}

describe('A route that issues IDs', () => {
  beforeEach(() => start(ENV));

  it.each(['/one/order', '/key/order', '/many/order', '/look/order', '/fail/order'])(
    'needs a token: %s',
    async (path) => {
      for (const token of ['', 'wrong-token-0123456789'])
        expect(await get(path, token)).toEqual([401, 'LEAF_UNAUTHORIZED']);
      expect((await get(path))[0]).not.toBe(401);
    },
  );

  it.each(['/one/other', '/key/other', '/many/other', '/look/other'])('needs a token of the tag: %s', async (path) => {
    expect(await get(path)).toEqual([403, 'LEAF_FORBIDDEN']);
    expect((await get(path, ADMIN))[0]).toBe(200);
  });

  it('knows the client', async () => {
    expect([await get('/one/order'), await get('/one/order', ADMIN)]).toEqual([
      [200, 'billing'],
      [200, 'admin'],
    ]);
  });

  it('charges the quota of the client', async () => {
    expect(await get('/many/order?size=9')).toEqual([200, 'taken']);
    for (let n = 0; n < 3; n++) expect(await get('/look/order')).toEqual([200, 'seen']);
    expect(await get('/one/order?size=9')).toEqual([200, 'billing']);
    expect(await get('/one/order')).toEqual([429, 'LEAF_QUOTA_EXCEEDED']);
    await clock.advance(100);
    expect(await get('/key/order')).toEqual([200, 'taken']);
    expect(await get('/one/order')).toEqual([429, 'LEAF_QUOTA_EXCEEDED']);
  });

  it('gives back what it did not issue', async () => {
    for (let n = 0; n < 10; n++) expect(await get('/fail/order?size=10')).toEqual([400, 'LEAF_REQUEST_INVALID']);
    expect(await get('/many/order?size=10')).toEqual([200, 'taken']);
  });

  it.each(['0', '101', 'x'])('refuses the size %s', async (size) => {
    expect(await get(`/many/order?size=${size}`)).toEqual([400, 'LEAF_SIZE_INVALID']);
  });
});

it('A route that issues IDs is open to anybody where there are no client tokens', async () => {
  await start({});
  for (let n = 0; n < 3; n++) expect(await get('/one/other', '')).toEqual([200, 'anonymous']);
});
