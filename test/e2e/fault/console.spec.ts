import type { Browser, Page, Request } from 'playwright-core';
import { ConsolePage, launchBrowser } from '../../support/browser';
import { ensureBuilt } from '../../support/build';
import { type BuiltServer, BuiltServers } from '../../support/servers/built-server';
import { text } from '../../support/http/http';
import { startMariadb } from '../../support/servers/mariadb';
import { stopwatch } from '../../support/starvation';
import { TcpProxy } from '../../support/http/tcp-proxy';
import { until } from '../../support/until';

const TAGS = 10_000;
/** Rows of the table that are in sight at a time, and those to spare: far fewer than there are tags. */
const MAX_ROWS = 60;
/** The server tells of an outage within 3 s, the page a second later, without what processes wait for a processor. */
const TOLD_LIMIT_MS = 4000;

const servers = new BuiltServers();
/** What was opened, to be closed in turn, however far the start came. */
const endings: (() => Promise<unknown>)[] = [() => servers.end()];
let toDatabase: TcpProxy;
let toServer: TcpProxy;
let server: BuiltServer;
let env: NodeJS.ProcessEnv;
let directory: string;
let browser: Browser;
let view: ConsolePage;
let page: Page;

beforeAll(async () => {
  const mariadb = await startMariadb();
  endings.push(() => mariadb.stop());
  browser = await launchBrowser();
  endings.push(() => browser.close());
  await ensureBuilt();
  toDatabase = await TcpProxy.start(mariadb.port);
  endings.push(() => toDatabase.stop());
  const url = new URL(await mariadb.createDatabase());
  url.port = String(toDatabase.port);
  env = { LEAF_DATABASE_URL: url.href, LEAF_SNOWFLAKE_ENABLED: 'false', LEAF_SEGMENT_REFRESH_MS: '1000' };
  directory = await servers.makeDirectory();
  server = await servers.start(directory, env);
  const database = url.pathname.slice(1);
  const values = `SELECT CONCAT('tag-', LPAD(seq, 5, '0')), 1, 1000 FROM ${database}.seq_1_to_${TAGS}`;
  await mariadb.query(`INSERT INTO ${database}.leaf_alloc (biz_tag, max_id, step) ${values}`);
  toServer = await TcpProxy.start(server.port);
  endings.push(() => toServer.stop());
  view = await ConsolePage.open(browser, toServer.port);
  page = view.page;
});

afterAll(async () => {
  for (const end of endings.reverse()) await end();
});

afterEach(() => expect(view.faults.splice(0)).toStrictEqual([]));

it('shows ten thousand tags, and draws those in sight', async () => {
  await view.show('segments');
  await page.getByText('10,001 of 10,001 tags').waitFor();
  const rows = page.locator('.table-body .row');
  const table = page.getByRole('table');
  expect(await table.getAttribute('aria-rowcount')).toBe('10002');
  for (const place of [0.5, 1, 0.25]) {
    await page.evaluate(
      `{ const table = document.querySelector('[role=table]'); table.scrollTop = ${place} * (table.scrollHeight - table.clientHeight); }`,
    );
    const expected = `tag-${String(Math.round(TAGS * place)).padStart(5, '0')}`;
    await page.getByRole('row').filter({ hasText: expected }).waitFor();
    expect(await rows.count()).toBeLessThan(MAX_ROWS);
    expect(await rows.count()).toBeGreaterThan(10);
  }
  await page.getByLabel('Search tags').fill('tag-0777');
  await page.getByText('10 of 10,001 tags').waitFor();
  await until('the ten rows', async () => (await rows.count()) === 10);
  await table.focus();
  await page.getByLabel('Search tags').fill('');
  await page.getByText('10,001 of 10,001 tags').waitFor();
  await text(server.port, '/api/segment/get/tag-09999');
  await page.getByRole('button', { name: 'IDs/s' }).click();
  await page.getByRole('button', { name: 'IDs/s' }).click();
  await rows.filter({ hasText: 'tag-09999' }).filter({ hasText: '999 left' }).waitFor();
});

it('tells of a database that is away, and that it is back', async () => {
  await view.show('overview');
  const database = (status: string) => page.locator(`[data-part=database][data-status=${status}]`);
  await database('up').waitFor();
  const time = stopwatch();
  toDatabase.refuse();
  await database('down').locator('.part-reason').waitFor();
  expect(time()).toBeLessThan(TOLD_LIMIT_MS);
  toDatabase.heal();
  await database('up').waitFor();
});

it('says since when it hears nothing, and goes on with the next server', async () => {
  await view.show('overview');
  const started = page.getByRole('region', { name: 'Server' });
  await started.waitFor();
  await server.kill();
  await page
    .getByRole('alert')
    .filter({ hasText: /^No connection to the server since \d\d:\d\d:\d\d/ })
    .waitFor();
  await page.locator('main.stale').waitFor();
  await page.getByRole('status').filter({ hasText: 'no connection' }).waitFor();
  server = await servers.start(directory, env);
  toServer.retarget(server.port);
  await page
    .getByRole('status')
    .filter({ hasText: /^ready$/ })
    .waitFor();
  await page.locator('main:not(.stale)').waitFor();
  await page.getByRole('alert').filter({ hasText: 'No connection' }).waitFor({ state: 'detached' });
  await view.show('segments');
  await page.getByText('10,001 of 10,001 tags').waitFor();
});

it('notices a connection on which nothing comes', async () => {
  toServer.blackhole();
  await page.locator('main.stale').waitFor();
  toServer.heal();
  await page.locator('main:not(.stale)').waitFor();
});

it('lets go of its connection in the background', async () => {
  const isStream = (request: Request): boolean => request.url().endsWith('/api/monitor/stream');
  const setHidden = (hidden: boolean): Promise<unknown> =>
    page.evaluate(
      `Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));`,
    );
  await page.locator('main:not(.stale)').waitFor();
  await Promise.all([page.waitForEvent('requestfailed', isStream), setHidden(true)]);
  await Promise.all([page.waitForRequest(isStream), setHidden(false)]);
  await page
    .getByRole('status')
    .filter({ hasText: /^ready$/ })
    .waitFor();
  await page.locator('main:not(.stale)').waitFor();
});
