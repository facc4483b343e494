import type { Browser, Page } from 'playwright-core';
import { admin, ADMIN_TOKEN } from '../support/http/admin';
import { APPEARANCES, ConsolePage, launchBrowser } from '../support/browser';
import { ensureBuilt } from '../support/build';
import { startMariadb } from '../support/servers/mariadb';
import { BuiltServers } from '../support/servers/built-server';
import { insertTag } from '../support/servers/data-directory';
import { json, text } from '../support/http/http';
import { until } from '../support/until';

const VIEWS = ['overview', 'segments', 'tags', 'numbers', 'snowflake', 'decoder/1169786042799259000', 'try'];
const HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';

const servers = new BuiltServers();
let browser: Browser;
let port: number;
let view: ConsolePage;
let page: Page;

beforeAll(async () => {
  await ensureBuilt();
  const directory = await servers.makeDirectory();
  browser = await launchBrowser();
  ({ port } = await servers.start(directory, { LEAF_ADMIN_TOKEN: ADMIN_TOKEN, LEAF_SEGMENT_REFRESH_MS: '200' }));
  insertTag(directory, { tag: 'order', step: 1000, maxId: 9_007_199_254_700_000 });
  insertTag(directory, { tag: 'hostile', step: 7, description: HOSTILE });
  await text(port, '/api/segment/get/order');
  await text(port, '/api/segment/batch/order?size=299');
  view = await ConsolePage.open(browser, port);
  page = view.page;
});

afterAll(async () => {
  await servers.end();
  await browser.close();
});

afterEach(() => expect(view.faults.splice(0)).toStrictEqual([]));

const row = (name: string): ReturnType<Page['getByRole']> => page.getByRole('row').filter({ hasText: name });

it('shows the status of the server', async () => {
  await view.show('overview');
  const parts = page.getByRole('region', { name: 'Parts' });
  for (const part of ['segment', 'snowflake', 'database', 'registry', 'clock', 'drain']) {
    await parts.locator(`[data-part=${part}][data-status=up]`).waitFor();
  }
  expect(await parts.innerText()).toContain('leaf.sqlite');
  const server = page.getByRole('region', { name: 'Server' });
  const { instance, version } = await json<{ instance: string; version: string }>(port, '/api/monitor/overview');
  expect(await server.innerText()).toContain(instance);
  expect(await server.innerText()).toContain(version);
  await page.getByRole('status').filter({ hasText: 'ready' }).waitFor();
});

it('draws the double buffer of each tag', async () => {
  await view.show('segments');
  await row('order').getByText('700 left').waitFor();
  await row('order').getByText('next: 1,000 ready').waitFor();
  expect(await row('order').innerText()).toContain('1,000 (1,000)');
  const used = await row('order').locator('.segment-used').boundingBox();
  const current = await row('order').locator('.segment-current').boundingBox();
  const mark = await row('order').locator('.segment-mark').boundingBox();
  expect(used!.width / current!.width).toBeCloseTo(0.3, 1);
  expect((mark!.x - current!.x) / current!.width).toBeCloseTo(0.1, 1);
  await row('hostile').getByText('not loaded yet').waitFor();
});

it('searches, filters and sorts tags', async () => {
  await view.show('segments');
  /** The page draws in its own time. */
  const names = (...expected: string[]): Promise<true> =>
    until(`the tags ${expected.join()}`, async () => {
      const seen = await page.locator('.table-body .tag-name').allInnerTexts();
      return seen.join() === expected.join();
    });
  await page.getByRole('button', { name: 'tag', exact: false }).first().click();
  await page.getByRole('columnheader', { name: /^tag/ }).and(page.locator('[aria-sort=descending]')).waitFor();
  await names('order', 'leaf-segment-test', 'hostile');
  await page.getByLabel('Show').selectOption('loaded');
  await names('order');
  await page.getByLabel('Search tags').fill('nothing');
  await page.getByText('No tag of this server matches.').waitFor();
  await page.getByText('0 of 3 tags').waitFor();
});

it('shows the worker, its lease and its clock', async () => {
  await view.show('snowflake');
  await page.getByRole('meter', { name: 'reserved ahead' }).waitFor();
  const main = await page.getByRole('main').innerText();
  expect(main).toContain('database (');
  expect(main).toContain('41 time · 10 worker · 12 sequence bits');
  expect(main).toContain('2080-07-10 17:30:30.208 UTC');
});

it('decodes an ID as the server does, and composes ranges', async () => {
  const id = await text(port, '/api/snowflake/get/test');
  const told = await json<{ time: string; workerId: number; sequence: number }>(port, `/api/snowflake/decode/${id}`);
  await view.show('decoder');
  await page.getByRole('textbox', { name: 'ID', exact: true }).fill(` ${id} `);
  const decoder = page.getByRole('region', { name: 'Decoder' });
  await decoder.getByText(told.time.replace('T', ' ').replace('Z', ' UTC')).waitFor();
  expect(await decoder.locator('.bit-worker .bit-value').innerText()).toBe(String(told.workerId));
  expect(await decoder.locator('.bit-sequence .bit-value').innerText()).toBe(String(told.sequence));
  const bits = await decoder.locator('.bit-digits').allInnerTexts();
  expect(BigInt(`0b${bits.join('')}`)).toBe(BigInt(id));
  expect(page.url()).toContain(`#/decoder/${id}`);

  await view.show('decoder/1169786042799259000');
  await decoder.getByText('2019-09-06 01:35:00.834 UTC').waitFor();
  await decoder.getByText('2019-09-06 09:35:00.834 GMT+8').waitFor();
  await page.getByRole('button', { name: 'Copy highest ID, millisecond' }).click();
  await until(
    'the copy',
    async () => (await page.evaluate('navigator.clipboard.readText()')) === '1169786042803290111',
  );
  await page
    .getByRole('row')
    .filter({ hasText: 'day, local' })
    .getByText('1169762131768246272')
    .waitFor({ state: 'detached' });
  for (const [wrong, fault] of [
    ['12x', 'An ID consists of digits only.'],
    ['9223372036854775808', 'The largest ID is 9223372036854775807'],
  ] as const) {
    await page.getByRole('textbox', { name: 'ID', exact: true }).fill(wrong);
    await page.getByRole('alert').filter({ hasText: fault }).waitFor();
  }
});

it('draws IDs, and says why there are none', async () => {
  await view.show('try');
  await page
    .getByRole('textbox', { name: 'Tag' })
    .or(page.getByRole('combobox', { name: 'Tag' }))
    .fill('order');
  await page.getByLabel('Request type').selectOption('range');
  await page.getByLabel('Size').fill('5');
  await page.getByRole('button', { name: 'Get IDs', exact: true }).click();
  await page.getByText('9007199254700300 … 9007199254700304').waitFor();
  await page.getByLabel('Request type').selectOption('batch');
  await page.getByRole('button', { name: 'Get IDs', exact: true }).click();
  await page.getByText('9007199254700305', { exact: true }).waitFor();
  await page.getByRole('combobox', { name: 'Tag' }).fill('nothing');
  await page.getByRole('button', { name: 'Get IDs', exact: true }).click();
  await page.getByRole('alert').filter({ hasText: 'LEAF_TAG_NOT_FOUND' }).waitFor();
  await page.getByLabel('Mode').selectOption('snowflake');
  await page.getByLabel('Request type').selectOption('single');
  await page.getByRole('button', { name: 'Get IDs', exact: true }).click();
  await page
    .getByRole('link', { name: /^Decode \d+$/ })
    .first()
    .click();
  await page.getByRole('region', { name: 'Decoder' }).locator('.bit-value').first().waitFor();
});

it('shows the values of a row as text, never as HTML', async () => {
  await view.show('tags');
  await row('hostile').getByText(HOSTILE).waitFor();
  await view.show('segments');
  await row('hostile').waitFor();
  expect(await page.evaluate('window.hacked')).toBeUndefined();
  expect(await page.locator('img').count()).toBe(0);
});

it('is used by keyboard alone', async () => {
  await view.show('overview');
  await page.reload();
  await page.getByRole('heading', { name: 'Parts' }).waitFor();
  const focused = (): Promise<string> => page.evaluate('document.activeElement.textContent');
  await page.keyboard.press('Tab');
  expect(await focused()).toBe('Skip to content');
  await page.keyboard.press('Enter');
  expect(await page.evaluate('document.activeElement.tagName')).toBe('MAIN');
  await page.getByRole('link', { name: 'Overview' }).focus();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'New tag' }).waitFor();
  await page.getByRole('link', { name: 'Tags' }).and(page.locator('[aria-current=page]')).waitFor();
  await page.getByRole('button', { name: 'New tag' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Create tag' }).waitFor();
  expect(await page.evaluate('document.activeElement.closest("dialog") !== null')).toBe(true);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(await focused()).toBe('New tag');
});

it('is translated to Chinese, and keeps the language after a reload', async () => {
  await page.getByRole('button', { name: '中' }).click();
  await view.show('overview');
  await page.reload();
  await page.getByRole('heading', { name: '组成部分' }).waitFor();
  expect(await page.locator('html').getAttribute('lang')).toBe('zh-CN');
  expect(await page.getByRole('navigation').innerText()).not.toMatch(/[A-Za-z]/);
  await page.getByRole('button', { name: 'en' }).click();
  await page.getByRole('heading', { name: 'Parts' }).waitFor();
});

it('drains the server after a confirmation, and undoes it', async () => {
  await view.show('overview');
  const { instance } = await json<{ instance: string }>(port, '/api/monitor/overview');
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Drain …' }).click();
  await dialog.getByRole('textbox', { name: 'Admin token' }).fill(ADMIN_TOKEN);
  await dialog.getByRole('button', { name: 'Use', exact: true }).click();
  const drain = dialog.getByRole('button', { name: 'Drain', exact: true });
  await dialog.getByLabel('Type').fill(`${instance}0`);
  expect(await drain.isDisabled()).toBe(true);
  await dialog.getByLabel('Type').fill(instance);
  await drain.click();
  await page.getByRole('status').filter({ hasText: 'This server is draining.' }).waitFor();
  const header = page.locator('header');
  await header.getByText('draining', { exact: true }).waitFor();
  await header.getByRole('link', { name: 'drain' }).waitFor();
  await page.locator('[data-part=drain][data-status=down]').waitFor();
  // A long reason leaves room for the rest.
  await page.setViewportSize({ width: 390, height: 844 });
  await page.locator('header .reason').evaluate('(reason) => (reason.textContent = "failed ".repeat(40))');
  expect(await view.overflow('header, .switch')).toBe(0);
  await page.setViewportSize({ width: 1280, height: 844 });
  await page.getByRole('button', { name: 'Undo drain …' }).click();
  await dialog.getByRole('button', { name: 'Undo drain' }).click();
  await page.locator('[data-part=drain][data-status=up]').waitFor();
  expect((await admin(port, 'DELETE', '/api/server/drain')).status).toBe(200);
});

it('shows on every page that the database is lost, with the reason and the way to the parts', async () => {
  const mariadb = await startMariadb();
  try {
    const own = { LEAF_SNOWFLAKE_REGISTRY: 'local', LEAF_LOCAL_WORKERS: '{"*":0}' };
    const env = { LEAF_DATABASE_URL: await mariadb.createDatabase(), ...own };
    const server = await servers.start(await servers.makeDirectory(), env);
    await text(server.port, '/api/segment/get/leaf-segment-test');
    await mariadb.stop();
    const cut = await ConsolePage.open(browser, server.port);
    const header = cut.page.locator('header');
    for (const name of VIEWS) {
      await cut.show(name);
      await header.getByText('degraded', { exact: true }).waitFor();
      const reason = header.getByRole('link', { name: /database/ });
      expect([name, await reason.getAttribute('href')]).toEqual([name, '#/overview']);
    }
    server.signal('SIGTERM');
    await server.exit();
    await header.getByText('no connection', { exact: true }).waitFor();
  } finally {
    await mariadb.stop();
  }
});

it('shows the HTTP API with Swagger UI, within the content security policy', async () => {
  await page.goto(`http://127.0.0.1:${port}/docs`);
  await page.getByText('/api/segment/batch/{tag}').click();
  await page.getByRole('button', { name: 'Try it out' }).click();
  await page.getByRole('button', { name: 'Execute' }).click();
  await page.locator('.live-responses-table .response-col_status', { hasText: '200' }).waitFor();
  await page.getByRole('button', { name: 'Authorize' }).click();
  await page.getByText('Available authorizations').waitFor();
});

it.each(APPEARANCES)('is accessible and fits at $width px in $colorScheme colours', async ({ width, colorScheme }) => {
  await page.emulateMedia({ colorScheme });
  await page.setViewportSize({ width, height: 844 });
  await view.show('overview');
  await page.getByRole('img', { name: /Chart of the last 15 minutes/ }).waitFor();
  for (const name of VIEWS) {
    await view.show(name);
    await page.getByRole('main').locator('section, dl').first().waitFor();
    expect([name, await view.findings()]).toEqual([name, []]);
  }
});

it('fits a phone', async () => {
  await page.setViewportSize({ width: 390, height: 844 });
  for (const name of VIEWS) {
    await view.show(name);
    await page.getByRole('main').locator('section, dl').first().waitFor();
    expect([name, await view.overflow()]).toEqual([name, 0]);
    const rail = await page.getByRole('navigation').boundingBox();
    expect([rail!.x, rail!.width, rail!.y + rail!.height]).toEqual([0, 390, 844]);
  }
});

it.each(['cache', 'db'])('shows the rows of /%s in a table that fits a phone', async (name) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`http://127.0.0.1:${port}/${name}`);
  await page.getByRole('table').getByRole('cell', { name: 'order', exact: true }).waitFor();
  expect(await view.overflow('html')).toBe(0);
  expect(await view.findings()).toStrictEqual([]);
});
