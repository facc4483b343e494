import 'reflect-metadata';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { IdModule, IdService } from '@leaf-ids/id';

const [, , orders = '', invoices = orders] = process.argv;

@Injectable()
class OrderService {
  constructor(private readonly ids: IdService) {}

  async place(): Promise<string> {
    return `${await this.ids.nextIdString('order')} ${this.ids.snowflakeString()}`;
  }
}

@Module({
  imports: [IdModule.forRoot({ database: orders, tags: ['order'], snowflake: {} })],
  providers: [OrderService],
})
class OrderModule {}

@Injectable()
class InvoiceService {
  constructor(private readonly ids: IdService) {}

  number(): Promise<string> {
    return this.ids.nextIdString('invoice');
  }
}

@Module({
  imports: [IdModule.forRoot({ database: invoices, tags: ['invoice'] })],
  providers: [InvoiceService],
})
class InvoiceModule {}

@Module({ imports: [OrderModule, InvoiceModule] })
class AppModule {}

async function main(): Promise<void> {
  const app = await NestFactory.createApplicationContext(AppModule);
  const find = { strict: false };
  console.log(`IDs: ${await app.get(OrderService, find).place()} ${await app.get(InvoiceService, find).number()}`);
  await app.close();
}

void main();
