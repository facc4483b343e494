import 'reflect-metadata';
import { LeafExceptionFilter } from '@leaf-ids/nest';
import { Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppModule } from './app.module';

async function main(): Promise<void> {
  const { DATABASE_URL: databaseUrl, ORDER_KEY: orderKey, PORT } = process.env;
  if (databaseUrl === undefined || orderKey === undefined) throw new Error('Set DATABASE_URL and ORDER_KEY.');
  const port = Number(PORT ?? 3000);
  const module = AppModule.forRoot({ databaseUrl, orderKey });
  const app = await NestFactory.create<NestFastifyApplication>(module, new FastifyAdapter());
  app.useGlobalFilters(new LeafExceptionFilter());
  app.enableShutdownHooks();
  await app.listen(port, '127.0.0.1');
  new Logger('Orders').log(`Listening on ${await app.getUrl()}`);
}

void main();
