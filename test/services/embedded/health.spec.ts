import 'reflect-metadata';
import { type AddressInfo } from 'node:net';
import { Controller, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { HealthCheck, type HealthCheckResult, HealthCheckService, TerminusModule } from '@nestjs/terminus';
import { IdModule, IdService, LeafHealthIndicator } from '@leaf-ids/id';
import { type Answer, call } from '../../support/http/http';
import { InMemoryWorkers, InMemoryWorkerStore } from '@leaf-ids/core/testing';
import { type MariadbServer, startMariadb } from '../../support/servers/mariadb';
import { until } from '../../support/until';

@Controller('health')
class HostHealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly leaf: LeafHealthIndicator,
  ) {}

  @Get()
  @HealthCheck()
  check(): Promise<HealthCheckResult> {
    return this.health.check([() => this.leaf.check('leaf')]);
  }
}

describe('Leaf in the health check of an application', () => {
  const workers = new InMemoryWorkers();
  let mariadb: MariadbServer;
  let app: NestFastifyApplication;
  let port: number;

  beforeAll(async () => {
    mariadb = await startMariadb();
    const ids = IdModule.forRoot({
      database: await mariadb.createDatabase(),
      tags: ['order'],
      segment: { refreshMs: 20, waitMs: 30_000 },
      snowflake: {
        registry: { strategy: 'custom', store: new InMemoryWorkerStore(workers), policy: 'fixed', remembers: true },
        instance: { ip: '10.0.0.7', port: 1 },
        reportMs: 20,
      },
    });

    @Module({
      imports: [ids, TerminusModule.forRoot({ logger: false })],
      controllers: [HostHealthController],
    })
    class HostModule {}

    app = await NestFactory.create<NestFastifyApplication>(HostModule, new FastifyAdapter(), { logger: false });
    await app.listen(0, '127.0.0.1');
    port = (app.getHttpServer().address() as AddressInfo).port;
  });
  afterAll(async () => {
    await app.close();
    await mariadb.stop();
  });

  const seen = (what: string, test: (answer: Answer) => boolean): Promise<Answer> =>
    until(what, async () => {
      const answer = await call(port, '/health');
      return test(answer) && answer;
    });

  it('is up, degraded without the database, and down without the lease', async () => {
    const up = await call(port, '/health');
    expect(up.status).toBe(200);
    expect(JSON.parse(up.body)).toMatchObject({
      status: 'ok',
      info: { leaf: { status: 'up', segment: { status: 'up' }, snowflake: { status: 'up' } } },
    });

    await app.get(IdService).nextId('order');
    await mariadb.stop();
    const degraded = await seen('degraded', ({ body }) => body.includes('"degraded"'));
    expect(degraded.status).toBe(200);
    expect(JSON.parse(degraded.body)).toMatchObject({
      status: 'degraded',
      info: { leaf: { status: 'degraded', state: 'degraded', segment: { status: 'degraded' } } },
    });
    expect(await app.get(IdService).nextId('order')).toBe(2n);

    const [held] = workers.records.values();
    workers.replace(held!, { ...held!.record, leaseId: 'twin', write: 1 });
    const down = await seen('down', ({ status }) => status === 503);
    expect(JSON.parse(down.body)).toMatchObject({
      error: { leaf: { status: 'down', snowflake: { status: 'down', code: 'LEAF_LEASE_LOST' } } },
    });
  });
});
