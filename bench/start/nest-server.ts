import 'reflect-metadata';
import * as nodeModule from 'node:module';

// As in the server: before anything else is loaded.
const { enableCompileCache } = nodeModule as { readonly enableCompileCache?: () => unknown };
enableCompileCache?.();

/** A Nest application on Fastify with one route and a constant response. */
async function main(): Promise<void> {
  const [{ Controller, Get, Module }, { NestFactory }, { FastifyAdapter }] = await Promise.all([
    import('@nestjs/common'),
    import('@nestjs/core'),
    import('@nestjs/platform-fastify'),
  ]);

  @Controller()
  class IdController {
    @Get('/api/snowflake/get/:key')
    get(): string {
      return '1169786042799259000';
    }
  }

  @Module({ controllers: [IdController] })
  class AppModule {}

  const app = await NestFactory.create(AppModule, new FastifyAdapter(), { logger: false });
  await app.listen(Number(process.env['LEAF_PORT']), '127.0.0.1');
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
