import type { MikroORM, Options } from '@mikro-orm/core';
import { MikroORM as LibsqlOrm } from '@mikro-orm/libsql';
import { MikroORM as MariadbOrm } from '@mikro-orm/mariadb';
import { MikroORM as PostgresOrm } from '@mikro-orm/postgresql';
import { database } from './harness.js';

const { kind, url } = database;

export async function connect(options: Pick<Options, 'entities' | 'subscribers'>): Promise<MikroORM> {
  if (kind === 'mariadb') return MariadbOrm.init({ ...options, clientUrl: url } as never) as Promise<never>;
  if (kind === 'postgres') return PostgresOrm.init({ ...options, clientUrl: url } as never) as Promise<never>;
  const orm = await LibsqlOrm.init({ ...options, dbName: url } as never);
  const database = await orm.em.getConnection().getNativeClient();
  database.defaultSafeIntegers(true);
  return orm as never;
}
