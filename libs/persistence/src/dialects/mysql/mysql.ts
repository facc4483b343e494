import { isIP } from 'node:net';
import { passwordReader } from '../../connections/password';
import type { Dialect, ServerAddress } from '../shared/dialect';
import { loadMysql } from './mysql-driver';
import { MYSQL_GUARD } from './mysql-guard';
import { MYSQL_SCHEMA } from './mysql-schema';
import { MysqlSegmentStore } from './mysql-segment-store';
import { MYSQL_SESSION } from './mysql-session';
import { MYSQL_TAGS, MYSQL_WORKERS } from './mysql-statements';
import { SERVER_ADVICE, tlsOptions } from '../shared/server-driver';
import { parseServerUrl } from '../shared/server-url';
import { invalidUrl } from '../shared/url-parameters';

const CONNECTION = { charset: 'utf8mb4', timezone: 'Z', supportBigNumbers: true, multipleStatements: true } as const;

const EXAMPLE = 'mysql://user:password@host:3306/database';

/** MySQL, MariaDB and compatible servers. */
export const mysql: Dialect<ServerAddress> = {
  schemes: ['mysql', 'mariadb'],
  example: EXAMPLE,
  parse: (url) => {
    const address = parseServerUrl(url, { example: EXAMPLE, port: 3306, severalHosts: false, parameters: [] });
    if (address.tls === 'verify' && isIP(address.host) !== 0) {
      throw invalidUrl('must have the name of the host, not its address, for sslmode=verify-full on MySQL and MariaDB');
    }
    return address;
  },
  driver: {
    options: async (address, common, limits) => {
      const { host, port, username, password, database } = address;
      const ssl = tlsOptions(address);
      return {
        ...common,
        ...{ host, port, username, password, database },
        ...(address.socket === undefined ? {} : { socketPath: address.socket }),
        type: 'mysql',
        driver: await loadMysql(await passwordReader(address, limits.connectMs)),
        ...CONNECTION,
        connectTimeout: limits.connectMs,
        poolSize: limits.connections,
        // Without verifyIdentity, mysql2 accepts any certificate of the authority for any host.
        ...(ssl === undefined ? {} : { ssl: { ...ssl, verifyIdentity: ssl.rejectUnauthorized } }),
      };
    },
    lends: ['mysql', 'mariadb'],
    shared: async (options, own, { connectMs }) => {
      if (options.type !== 'mysql' && options.type !== 'mariadb') throw new Error(`${options.type} is not MySQL`);
      return {
        ...options,
        ...own,
        ...CONNECTION,
        bigNumberStrings: false,
        connectTimeout: connectMs,
        driver: await loadMysql(),
        extra: { ...(options.extra as object | undefined), connectionLimit: own.poolSize },
      };
    },
    createDatabase: (name) => `CREATE DATABASE \`${name.replaceAll('`', '``')}\``,
    advice: () => SERVER_ADVICE,
  },
  session: MYSQL_SESSION,
  schema: MYSQL_SCHEMA,
  guard: MYSQL_GUARD,
  segments: (access, guard) => new MysqlSegmentStore(access, guard, MYSQL_TAGS),
  tags: MYSQL_TAGS,
  workers: MYSQL_WORKERS,
};
