import 'reflect-metadata';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Injectable, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { IdModule, IdService } from '@leaf-ids/id';

@Injectable()
class OrderService {
  constructor(private readonly ids: IdService) {}

  async place(): Promise<string> {
    return `${await this.ids.nextIdString('order')} ${this.ids.snowflakeString()}`;
  }
}

it('takes IDs', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'leaf-matrix-test-'));

  @Module({
    imports: [IdModule.forRoot({ database: `sqlite:${directory}/ids.sqlite`, tags: ['order'], snowflake: {} })],
    providers: [OrderService],
  })
  class AppModule {}

  const app = await Test.createTestingModule({ imports: [AppModule] }).compile();
  await app.init();
  process.stdout.write(`IDs: ${await app.get(OrderService).place()}\n`);
  await app.close();
  await rm(directory, { recursive: true });
});
