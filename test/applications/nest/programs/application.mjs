// A Nest application on Express or Fastify, outside of the repository. Argument: express or fastify.
// Writes one line of JSON: how it responds with what @leaf-ids/nest brings, and without.
import 'reflect-metadata';
import { LeafError, TagStore, WorkerRegistry } from '@leaf-ids/core';
import { LeafExceptionFilter, serializeBigInts } from '@leaf-ids/nest';
import { EmbeddedIdService, IdModule, IdService, LEAF_DATA_SOURCE, LeafAlloc } from '@leaf-ids/id';
import { LeafHealthIndicator, RegistryModule, SegmentModule, SegmentService } from '@leaf-ids/id';
import { SnowflakeModule, SnowflakeService } from '@leaf-ids/id';
import { InMemoryIdService } from '@leaf-ids/id/testing';
import { Controller, Get, Inject, Injectable, Module, Param } from '@nestjs/common';
import { APP_FILTER, NestFactory } from '@nestjs/core';
import { ClientProxyFactory, MessagePattern, Transport } from '@nestjs/microservices';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { HealthCheckService, TerminusModule } from '@nestjs/terminus';
import { Test } from '@nestjs/testing';
import { InjectDataSource, InjectRepository } from '@nestjs/typeorm';
import { lastValueFrom } from 'rxjs';

const createAdapter = () => (process.argv[2] === 'express' ? new ExpressAdapter() : new FastifyAdapter());

class IdController {
  refuse(code) {
    throw new LeafError(code, `It is ${code}.`, { retryAfterMs: 2500 });
  }

  bigints() {
    return { id: 2n ** 63n - 1n, lines: [{ id: 1n }] };
  }
}
Controller()(IdController);
decorate('refuse', Get('refuse/:code'), MessagePattern('refuse'));
decorate('bigints', Get('bigints'));
Param('code')(IdController.prototype, 'refuse', 0);

function decorate(method, ...decorators) {
  const descriptor = Object.getOwnPropertyDescriptor(IdController.prototype, method);
  for (const each of decorators) each(IdController.prototype, method, descriptor);
}

class PlainModule {}
Module({ controllers: [IdController] })(PlainModule);
class FilterModule {}
Module({ controllers: [IdController], providers: [{ provide: APP_FILTER, useClass: LeafExceptionFilter }] })(
  FilterModule,
);

async function responses(module, configure) {
  const app = await NestFactory.create(module, createAdapter(), { logger: false });
  configure(app);
  await app.listen(0, '127.0.0.1');
  const url = await app.getUrl();
  const get = async (path) => {
    const response = await fetch(`${url}/${path}`);
    const { status, headers } = response;
    const type = headers.get('content-type')?.split(';')[0];
    return { status, type, retryAfter: headers.get('retry-after'), body: await response.json() };
  };
  const found = {
    refusal: await get('refuse/LEAF_SEGMENT_UNAVAILABLE'),
    input: await get('refuse/LEAF_TAG_INVALID'),
    fault: await get('refuse/LEAF_DATABASE_UNUSABLE'),
    bigints: await get('bigints'),
  };
  await app.close();
  return found;
}

/** What a caller over TCP gets, twice: the first refusal must not end the process. */
async function overTcp() {
  const transport = { transport: Transport.TCP, options: { host: '127.0.0.1', port: Number(process.argv[3]) } };
  const app = await NestFactory.createMicroservice(FilterModule, { ...transport, logger: false });
  await app.listen();
  const client = ClientProxyFactory.create(transport);
  const ask = () => lastValueFrom(client.send('refuse', 'LEAF_NOT_READY')).catch((error) => error);
  const answers = [await ask(), await ask()];
  client.close();
  await app.close();
  return answers;
}

/** Whether a test that overrides IdService needs the database, which is not there. */
async function overridden() {
  const database = 'mysql://leaf@127.0.0.1:1/leaf';
  class AppModule {}
  Module({ imports: [IdModule.forRoot({ database, tags: ['order'], snowflake: {} })] })(AppModule);
  const ids = new InMemoryIdService();
  const app = await Test.createTestingModule({ imports: [AppModule] })
    .overrideProvider(IdService)
    .useValue(ids)
    .compile();
  await app.init();
  const id = String(await app.get(IdService).nextId('order'));
  await app.close();
  return id;
}

/** Which IdService an application finds, and what the log says without shutdown hooks. */
async function unhooked() {
  const warnings = [];
  const nothing = () => undefined;
  const logger = { log: nothing, error: nothing, warn: (text) => warnings.push(text) };
  const root = IdModule.forRoot({ database: 'sqlite::memory:', tags: ['order'] });
  const app = await NestFactory.createApplicationContext(root, { logger });
  const id = String(await app.get(IdService).nextId('order'));
  await new Promise((resolve) => setTimeout(resolve, 5500));
  await app.close();
  return { id, warnings };
}

/** How Terminus responds while IDs are issued, while something fails, and while none are issued. */
async function health() {
  class HealthModule {}
  const ids = IdModule.forRoot({ database: 'sqlite::memory:' });
  Module({ imports: [TerminusModule.forRoot({ logger: false }), ids] })(HealthModule);
  const app = await NestFactory.createApplicationContext(HealthModule, { logger: false });
  const [service, leaf] = [await app.resolve(HealthCheckService), app.get(LeafHealthIndicator)];
  const responses = {};
  for (const status of ['up', 'degraded', 'down']) {
    app.get(EmbeddedIdService).readiness = () => ({ segment: { health: { status } } });
    const result = await service.check([() => leaf.check('leaf')]).catch((error) => error.getResponse());
    responses[status] = result;
  }
  await app.close();
  return responses;
}

/** How an application with two global modules is refused. */
async function twoGlobals() {
  const ids = () => IdModule.forRoot({ database: 'sqlite::memory:', isGlobal: true });
  class AppModule {}
  Module({ imports: [ids(), ids()] })(AppModule);
  const options = { logger: false, abortOnError: false };
  return NestFactory.createApplicationContext(AppModule, options).catch(({ code }) => code);
}

/** The IDs of two modules with factories of the same source text, and of one with a bigint in its options. */
async function several() {
  const database = 'sqlite::memory:';
  const after = (maxId) => IdModule.forRootAsync({ useFactory: () => ({ database, tags: [tagAfter(maxId)] }) });
  const modules = [after(100n), after(2000n), IdModule.forRoot({ database, tags: [tagAfter(30_000n)] })];
  const imports = modules.map((leaf, index) => {
    class FeatureModule {}
    const provider = { provide: `ids ${index}`, useFactory: (ids) => ids, inject: [IdService] };
    return { module: FeatureModule, imports: [leaf], providers: [provider] };
  });
  class AppModule {}
  Module({ imports })(AppModule);
  const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
  const services = modules.map((_leaf, index) => app.get(`ids ${index}`, { strict: false }));
  const ids = await Promise.all(services.map((service) => service.nextIdString('order')));
  await app.close();
  return ids;
}

/** What each part gives that an application uses alone. */
async function alone() {
  const inside = async (module, take) => {
    const app = await NestFactory.createApplicationContext(module, { logger: false });
    const taken = await take(app);
    await app.close();
    return taken;
  };
  const registry = { strategy: 'database', url: `sqlite:./workers-${process.argv[3]}.sqlite`, migrate: true };
  const database = { url: 'sqlite::memory:', migrate: true };
  return {
    segment: await inside(SegmentModule.forRoot({ database }), async (app) => {
      await app.get(TagStore).create({ tag: 'order', step: 10 });
      return String(await app.get(SegmentService).generator.next('order'));
    }),
    snowflake: await inside(SnowflakeModule.forRoot({ registry, instance: { ip: '10.0.0.7', port: 1 } }), (app) => {
      const { generator, layout } = app.get(SnowflakeService);
      return layout.decompose(generator.next()).workerId;
    }),
    registry: await inside(RegistryModule.forRoot({ registry }), async (app) => {
      const records = await app.get(WorkerRegistry).records();
      return records.map(({ workerId }) => workerId);
    }),
  };
}

/** What a service of the application injects, and how many refreshes follow the deletion of their job. */
async function injected() {
  class TagReport {
    constructor(source, tags, scheduler) {
      Object.assign(this, { source, tags, scheduler });
    }
  }
  Injectable()(TagReport);
  InjectDataSource(LEAF_DATA_SOURCE)(TagReport, undefined, 0);
  InjectRepository(LeafAlloc, LEAF_DATA_SOURCE)(TagReport, undefined, 1);
  Inject(SchedulerRegistry)(TagReport, undefined, 2);
  const tags = [tagAfter(2n ** 53n + 1n)];
  const registry = { strategy: 'database', url: 'sqlite::memory:', migrate: true };
  const snowflake = { registry, reportMs: 2 };
  const leaf = IdModule.forRoot({ database: 'sqlite::memory:', tags, segment: { refreshMs: 2 }, snowflake });
  class AppModule {}
  Module({ imports: [ScheduleModule.forRoot(), leaf], providers: [TagReport] })(AppModule);
  const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
  const { source, tags: rows, scheduler } = app.get(TagReport);
  const [{ biz_tag, max_id }] = await rows.find();
  const refusal = await source.query('DELETE FROM leaf_alloc').catch(({ code }) => code);
  const jobs = scheduler.getIntervals();
  scheduler.deleteInterval('leaf-tag-refresh');
  const runs = () => app.get(SegmentService).generator.refresh.snapshot().runs;
  const before = runs();
  await new Promise((resolve) => setTimeout(resolve, 50));
  const later = runs() - before;
  await app.close();
  return { biz_tag, max_id, refusal, jobs, later };
}

function tagAfter(maxId) {
  return { tag: 'order', step: 10, maxId };
}

const result = {
  plain: await responses(PlainModule, () => undefined),
  filtered: await responses(FilterModule, serializeBigInts),
  tcp: await overTcp(),
  overridden: await overridden(),
  several: await several(),
  alone: await alone(),
  health: await health(),
  twoGlobals: await twoGlobals(),
  injected: await injected(),
  unhooked: await unhooked(),
};
console.log(JSON.stringify(result));
