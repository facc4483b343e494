import 'reflect-metadata';
import { Controller, Get, type INestApplication, Post } from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import * as api from '@nestjs/swagger';
import { Test } from '@nestjs/testing';
import { ApiJsonBody, ApiOperation, ApiProperty, ApiResponse, ApiSchema, applyRecorded } from './decorators';

class Seed {
  @ApiProperty({ description: 'What grows of it.' })
  readonly plant!: string;
}

class Fruit {
  @ApiProperty()
  readonly seed!: Seed;
}

@ApiSchema({ name: 'Fig', nullable: true })
class SweetFruit extends Fruit {
  @ApiProperty({ type: [Seed] })
  readonly others!: readonly Seed[];
}

class Order {
  @ApiProperty({ type: 'integer', minimum: 1 })
  readonly count!: number;
}

@Controller('fruits')
class FruitController {
  @Get()
  @ApiOperation({ operationId: 'pick', summary: 'Picks one' })
  @ApiResponse({ status: 200, description: 'One.', type: SweetFruit })
  pick(): undefined {
    return undefined;
  }

  @Post()
  @ApiJsonBody(() => Promise.resolve(Order))
  order(): undefined {
    return undefined;
  }
}

const reference = (name: string): object => ({ $ref: `#/components/schemas/${name}` });

let app: INestApplication;
beforeAll(async () => {
  const module = await Test.createTestingModule({ controllers: [FruitController] }).compile();
  app = module.createNestApplication(new FastifyAdapter());
  await app.init();
});
afterAll(() => app.close());

function documentOf(): api.OpenAPIObject {
  return api.SwaggerModule.createDocument(app, new api.DocumentBuilder().build());
}

it('records decorators, and applies them with those of the referenced classes', async () => {
  expect(documentOf().components?.schemas).toEqual({});
  await applyRecorded(FruitController, api);
  const { paths, components } = documentOf();
  expect(paths['/fruits']?.get).toMatchObject({ operationId: 'pick', summary: 'Picks one' });
  expect(paths['/fruits']?.get?.responses[200]).toMatchObject({
    content: { 'application/json': { schema: reference('Fig') } },
  });
  expect(paths['/fruits']?.post?.requestBody).toEqual({
    required: true,
    content: { 'application/json': { schema: reference('Order') } },
  });
  expect(components?.schemas).toMatchObject({
    Seed: { properties: { plant: { type: 'string', description: 'What grows of it.' } }, required: ['plant'] },
    Fig: {
      nullable: true,
      properties: { seed: reference('Seed'), others: { type: 'array', items: reference('Seed') } },
      required: ['seed', 'others'],
    },
    Order: { properties: { count: { type: 'integer', minimum: 1 } } },
  });
});

it('applies them once for several documents', async () => {
  await Promise.all([applyRecorded(FruitController, api), applyRecorded(FruitController, api)]);
  expect(documentOf().paths['/fruits']?.get?.responses[200]).toMatchObject({ description: 'One.' });
});
