import 'reflect-metadata';
import { join } from 'node:path';
import { NestFactory } from '@nestjs/core';
import { IdService, SystemClock } from '@leaf-ids/core';
import { InMemoryIdService } from '@leaf-ids/core/testing';
import { LeafClient } from '@leaf-ids/client';
import { IdModule } from '@leaf-ids/id';
import { makeDataDirectory, removeDataDirectory } from '../../support/servers/data-directory';
import { startTestServer } from '../../support/servers/server';
import { CONTRACT_TAG, idServiceContract } from '../../support/contract/id-service.contract';

idServiceContract('embedded', async () => {
  const directory = await makeDataDirectory();
  const root = IdModule.forRoot({
    tags: [CONTRACT_TAG],
    segment: { database: { url: `sqlite:${join(directory, 'leaf.sqlite')}`, migrate: true } },
    snowflake: {
      registry: { strategy: 'local', workers: { '*': 0 }, directory },
      instance: { ip: '127.0.0.1', port: 8080 },
    },
  });
  const app = await NestFactory.createApplicationContext(root, { logger: false });
  const stop = async (): Promise<void> => {
    await app.close();
    await removeDataDirectory(directory);
  };
  return { ids: app.get(IdService), stop };
});

idServiceContract('over HTTP', async () => {
  const server = await startTestServer({ LEAF_SNOWFLAKE_REGISTRY: 'local' });
  // A short pause of the machine must not count as an outage.
  const patience = { requestTimeoutMs: 30_000, timeoutMs: 60_000 };
  const client = new LeafClient({ servers: [`http://127.0.0.1:${server.port}`], ...patience });
  const stop = async (): Promise<void> => {
    await client.close();
    await server.stop();
  };
  return { ids: client, stop };
});

idServiceContract('in memory', () => {
  const ids = new InMemoryIdService({ tags: [CONTRACT_TAG], clock: new SystemClock() });
  return Promise.resolve({ ids, stop: () => Promise.resolve() });
});
