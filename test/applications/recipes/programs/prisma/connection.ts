import { PrismaLibSql } from '@prisma/adapter-libsql';
import { PrismaMariaDb } from '@prisma/adapter-mariadb';
import { PrismaPg } from '@prisma/adapter-pg';
import { database } from './harness.js';

const { kind, url } = database;
const server =
  kind === 'mariadb' ? new PrismaMariaDb(url.replace('mysql:', 'mariadb:')) : new PrismaPg({ connectionString: url });
export const adapter = kind === 'sqlite' ? new PrismaLibSql({ url: `file:${url}`, intMode: 'bigint' }) : server;
