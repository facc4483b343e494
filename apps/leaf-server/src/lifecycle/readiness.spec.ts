import { createServer } from 'node:http';
import type { HttpAdapterHost } from '@nestjs/core';
import type { Leaf } from '@leaf-ids/id';
import type { Drain } from './drain';
import { Readiness } from './readiness';
import { startFault } from './start-fault';
import { LeafError } from '@leaf-ids/core';

const MESSAGE = 'Set the option snowflake.layout as on the other servers.';
const IN_SETTINGS = 'Set LEAF_SNOWFLAKE_BITS and LEAF_SNOWFLAKE_EPOCH as on the other servers.';

it('names variables in place of options in the reasons of the libraries', () => {
  const host = { httpAdapter: { getHttpServer: () => createServer() } } as unknown as HttpAdapterHost;
  const snowflake = { health: { status: 'down', message: MESSAGE } };
  const leaf = { readiness: () => ({ snowflake }), status: () => ({ now: 5, snowflake }) } as unknown as Leaf;
  const readiness = new Readiness({ active: false } as Drain, host, leaf);
  const seen = { health: { status: 'down', message: IN_SETTINGS } };
  expect(readiness.current().leaf).toEqual({ snowflake: seen });
  expect(readiness.status().leaf).toEqual({ now: 5, snowflake: seen });
  expect(readiness.ready).toBe(false);
});

it('names them in the fault of a start as well', () => {
  const error = new LeafError('LEAF_LAYOUT_MISMATCH', MESSAGE);
  expect(startFault(error)).toBe(`LEAF_LAYOUT_MISMATCH: ${IN_SETTINGS}`);
});
