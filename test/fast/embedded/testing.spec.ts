import 'reflect-metadata';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Injectable, Module } from '@nestjs/common';
import { Test, type TestingModuleBuilder } from '@nestjs/testing';
import { LeafClientModule } from '@leaf-ids/client/nest';
import { EmbeddedIdService, IdModule, IdService, Leaf } from '@leaf-ids/id';
import { IdTestingModule, InMemoryIdService } from '@leaf-ids/id/testing';
import { makeDataDirectory, removeDataDirectory } from '../../support/servers/data-directory';

@Injectable()
class OrderService {
  constructor(readonly ids: IdService) {}

  place(): Promise<bigint> {
    return this.ids.nextId('order');
  }
}

describe('IdTestingModule', () => {
  it('provides IdService in memory', async () => {
    const app = await Test.createTestingModule({
      imports: [IdTestingModule.forRoot({ tags: ['order'], workerId: 5 })],
      providers: [OrderService],
    }).compile();
    const orders = app.get(OrderService);
    expect(await orders.place()).toBe(1n);
    expect(orders.ids.decode(orders.ids.snowflake()).workerId).toBe(5);
    app.get(InMemoryIdService).fail('LEAF_STORE_UNAVAILABLE', { times: 1 });
    await expect(orders.place()).rejects.toMatchObject({ code: 'LEAF_STORE_UNAVAILABLE' });
    expect(await orders.place()).toBe(2n);
    await expect(orders.ids.nextId('invoice')).rejects.toMatchObject({ code: 'LEAF_TAG_NOT_FOUND' });
  });

  it('may be global, and has IDs of its own in each application', async () => {
    @Module({ providers: [OrderService] })
    class OrderModule {}

    for (let n = 0; n < 2; n++) {
      const imports = [IdTestingModule.forRoot({ isGlobal: true }), OrderModule];
      const app = await Test.createTestingModule({ imports }).compile();
      expect(await app.get(OrderService).place()).toBe(1n);
    }
  });
});

describe('An application whose IdService is overridden', () => {
  let directory: string;
  let file: string;

  beforeEach(async () => {
    directory = await makeDataDirectory();
    file = join(directory, 'leaf.sqlite');
  });
  afterEach(() => removeDataDirectory(directory));

  function testingModule(): TestingModuleBuilder {
    @Module({
      imports: [IdModule.forRoot({ database: `sqlite:${file}`, tags: ['order'], snowflake: {} })],
      providers: [OrderService],
      exports: [OrderService],
    })
    class AppModule {}

    return Test.createTestingModule({ imports: [AppModule] });
  }

  class FirstIds extends InMemoryIdService {}

  it.each<[string, (builder: TestingModuleBuilder) => TestingModuleBuilder]>([
    ['useValue', (builder) => builder.overrideProvider(IdService).useValue(new FirstIds())],
    ['useClass', (builder) => builder.overrideProvider(IdService).useClass(FirstIds)],
    ['useFactory', (builder) => builder.overrideProvider(IdService).useFactory({ factory: () => new FirstIds() })],
  ])('opens no database with %s', async (_how, override) => {
    const app = await override(testingModule()).compile();
    await app.init();
    expect(app.get(OrderService).ids).toBeInstanceOf(FirstIds);
    expect(app.get(IdService)).toBeInstanceOf(FirstIds);
    expect(await app.get(OrderService).place()).toBe(1n);
    expect(app.get(Leaf).status()).toEqual({ now: expect.any(Number) });
    await app.close();
    expect(existsSync(file)).toBe(false);
  });

  it('opens it when nothing is overridden', async () => {
    const app = await testingModule().compile();
    await app.init();
    expect(app.get(IdService)).toBeInstanceOf(EmbeddedIdService);
    expect(app.get(OrderService).ids).toBe(app.get(IdService));
    expect(await app.get(OrderService).place()).toBe(1n);
    await app.close();
    expect(existsSync(file)).toBe(true);
  });

  it('sends no request to a Leaf server', async () => {
    const asked = jest.fn();
    const server = createServer(asked).listen(0, '127.0.0.1');
    try {
      await new Promise((resolve) => server.once('listening', resolve));
      const { port } = server.address() as { port: number };
      const client = LeafClientModule.forRoot({ servers: [`http://127.0.0.1:${port}`], preload: { tags: ['order'] } });
      const app = await Test.createTestingModule({ imports: [client], providers: [OrderService] })
        .overrideProvider(IdService)
        .useValue(new InMemoryIdService())
        .compile();
      await app.init();
      expect(await app.get(OrderService).place()).toBe(1n);
      await app.close();
      expect(asked).not.toHaveBeenCalled();
    } finally {
      server.close();
    }
  });
});
