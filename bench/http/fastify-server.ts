import { fastify } from 'fastify';

/** Plain Fastify with one route and a constant response. */
const ID = '1169786042799259000';

const server = fastify();
server.get('/api/snowflake/get/:key', (_request, reply) => reply.type('text/plain').send(ID));
server
  .listen({ port: Number(process.env['LEAF_PORT']), host: process.env['LEAF_HOST'] ?? '127.0.0.1' })
  .catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
