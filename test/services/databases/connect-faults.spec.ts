import { parseDatabaseUrl } from '@leaf-ids/persistence';
import { connect } from '../../support/contract/sql-stores';
import { startMariadb } from '../../support/servers/mariadb';
import { startPostgres } from '../../support/servers/postgres';
import type { PrivateServer } from '../../support/servers/private-server';

const SECRET = 'p%40ss-w0rd';
/** A label of a name has at most 63 characters: nobody is asked for it. */
const NOWHERE = `${'a'.repeat(64)}.invalid`;

describe.each<[string, () => Promise<PrivateServer>, RegExp, RegExp]>([
  [
    'MariaDB',
    startMariadb,
    /[Aa]ccess denied/,
    /does not exist. Create it with CREATE DATABASE `none`, or correct its name\.$/,
  ],
  [
    'PostgreSQL',
    startPostgres,
    /role "stranger" does not exist/,
    /does not exist. Create it with CREATE DATABASE "none", or correct its name\.$/,
  ],
])('%s cannot be opened', (_name, start, wrongUser, wrongDatabase) => {
  let server: PrivateServer;
  let good: string;
  beforeAll(async () => {
    server = await start();
    good = await server.createDatabase();
  });
  afterAll(() => server.stop());

  const advised = /the option database/;
  const cases: [string, (url: string) => string, RegExp, RegExp?][] = [
    ['by a user that it does not know', (url) => url.replace(/\/\/\w+@/, `//stranger:${SECRET}@`), wrongUser],
    ['under a name that is no database', (url) => url.replace(/\/leaf_\w+$/, '/none'), wrongDatabase, wrongDatabase],
    ['with TLS, which it does not speak', (url) => `${url}?sslmode=require`, /SSL|secure/],
    ['at a name that nobody has', (url) => url.replace('127.0.0.1', NOWHERE), /ENOTFOUND/],
  ];

  it.each(cases)('%s', async (_what, spoil, said, advice = advised) => {
    const url = spoil(good);
    const error: unknown = await connect(parseDatabaseUrl(url)).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'LEAF_DATABASE_UNUSABLE',
      message: expect.stringMatching(said) as string,
    });
    const { message } = error as Error;
    expect(message).toContain(parseDatabaseUrl(url).description);
    expect(message).toMatch(advice);
    for (const secret of [SECRET, decodeURIComponent(SECRET)]) expect(message).not.toContain(secret);
    await (await connect(parseDatabaseUrl(good))).destroy();
  });
});
