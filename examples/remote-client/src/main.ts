import 'reflect-metadata';
import type { LeafServerAddress } from '@leaf-ids/client';
import { LeafExceptionFilter } from '@leaf-ids/nest';
import { Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from './app.module';

async function main(): Promise<void> {
  const { LEAF_SERVERS, ZONE: zone, PORT } = process.env;
  if (LEAF_SERVERS === undefined || zone === undefined) throw new Error('Set LEAF_SERVERS and ZONE.');
  const servers = JSON.parse(LEAF_SERVERS) as LeafServerAddress[];
  const module = AppModule.forRoot({ servers, zone });
  const app = await NestFactory.create<NestFastifyApplication>(module, new FastifyAdapter());
  app.useGlobalFilters(new LeafExceptionFilter());
  app.enableShutdownHooks();
  await app.listen(Number(PORT ?? 3000), '127.0.0.1');
  new Logger('Orders').log(`Listening on ${await app.getUrl()}`);
}

void main();
