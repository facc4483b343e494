import { readFileSync } from 'node:fs';
import type { Browser, Locator, Page } from 'playwright-core';
import { APPEARANCES, ConsolePage, launchBrowser } from '../support/browser';
import { ensureBuilt } from '../support/build';
import { admin, ADMIN_TOKEN } from '../support/http/admin';
import { type Answer, call, json } from '../support/http/http';
import { BuiltServers } from '../support/servers/built-server';

const CLIENT_TOKEN = 'shop-token-0123456789';
const YEAR = String(new Date().getUTCFullYear());

const servers = new BuiltServers();
let browser: Browser;
let port: number;
let view: ConsolePage;
let page: Page;

beforeAll(async () => {
  await ensureBuilt();
  browser = await launchBrowser();
  ({ port } = await servers.start(await servers.makeDirectory(), { LEAF_ADMIN_TOKEN: ADMIN_TOKEN }));
  view = await ConsolePage.open(browser, port);
  page = view.page;
});

afterAll(async () => {
  await servers.end();
  await browser.close();
});

afterEach(() => expect(view.faults.splice(0)).toStrictEqual([]));

const dialog = (): Locator => page.getByRole('dialog');
const row = (text: string): Locator => page.getByRole('row').filter({ hasText: text });
const said = (words: string): Promise<void> => page.getByRole('status').filter({ hasText: words }).waitFor();

function issue(tag: string, keys: readonly string[], to = port): Promise<Answer> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${CLIENT_TOKEN}` };
  return call(to, `/api/numbers/${tag}`, { method: 'PUT', headers, body: JSON.stringify({ keys }) });
}

it('creates a gapless tag, which has no segments', async () => {
  await view.show('numbers');
  await page.getByText('There are no gapless tags.').waitFor();
  await view.show('tags');
  await page.getByRole('textbox', { name: 'Admin token' }).fill(ADMIN_TOKEN);
  await page.getByRole('button', { name: 'Use', exact: true }).click();
  await page.getByRole('button', { name: 'New tag' }).click();
  await dialog().getByLabel('Name').fill('invoice');
  await dialog().getByText('More settings').click();
  await dialog().getByLabel('Order').selectOption('gapless');
  for (const label of ['Step', 'Largest segment', 'Databases that share the tag']) {
    expect([label, await dialog().getByLabel(label).count()]).toEqual([label, 0]);
  }
  await dialog().getByLabel('Text of a number').fill('INV-{YYYY}-{seq:4}');
  await dialog().getByLabel('Void numbers').selectOption('yes');
  await dialog().getByLabel('Restarts').selectOption('yearly');
  expect(await view.findings()).toStrictEqual([]);
  await dialog().getByRole('button', { name: 'Create' }).click();
  await said('Created tag invoice.');
  const kind = { order: 'gapless', reset: 'yearly', pattern: 'INV-{YYYY}-{seq:4}', reissue: true };
  expect(await json(port, '/api/tags/invoice')).toMatchObject(kind);
  for (const badge of ['gapless', 'INV-{YYYY}-{seq:4}', 'reissues void numbers']) {
    await row('invoice').getByText(badge, { exact: true }).waitFor();
  }
  await page.getByRole('button', { name: 'Edit invoice' }).click();
  expect(await dialog().getByLabel('Step').count()).toBe(0);
  await dialog().getByLabel('Last ID').fill('9999');
  await dialog().getByRole('button', { name: 'Save' }).click();
  await said('Saved tag invoice.');
});

it('confirms a number, makes another one void with a reason, and finds them by key', async () => {
  await issue('invoice', ['order 1', 'order 2/b', '<b>3</b>']);
  await view.show('numbers/invoice');
  await said('3 shown');
  await page.getByRole('button', { name: `Confirm INV-${YEAR}-0001` }).click();
  await dialog().getByText('The document order 1 exists.').waitFor();
  await dialog().getByRole('button', { name: 'Confirm' }).click();
  await said(`Confirmed INV-${YEAR}-0001.`);
  await row('order 1').getByText('confirmed').waitFor();
  expect(await row('order 1').getByRole('button').count()).toBe(0);

  await page.getByRole('button', { name: `Void INV-${YEAR}-0002` }).click();
  const act = dialog().getByRole('button', { name: 'Void' });
  await dialog().getByLabel('Reason').fill('  ');
  expect(await act.isDisabled()).toBe(true);
  await dialog().getByLabel('Reason').fill('printer jam');
  expect(await view.findings()).toStrictEqual([]);
  await act.click();
  await said(`INV-${YEAR}-0002 is void.`);
  await row('order 2/b').getByText('printer jam').waitFor();

  await page.getByLabel('State').selectOption('void');
  await said('1 shown');
  await row('order 2/b').getByText('printer jam').waitFor();
  const key = page.getByLabel('Key of a document');
  await key.fill(' <b>3</b> ');
  await key.press('Enter');
  await row('<b>3</b>').getByText('open').waitFor();
  await key.fill('order 9');
  await key.press('Enter');
  await page.getByRole('alert').filter({ hasText: 'LEAF_NUMBER_NOT_FOUND' }).waitFor();
  await key.fill('audit');
  await page.getByRole('alert').filter({ hasText: 'No document can have this key.' }).waitFor();
  await key.fill('');
  await page.getByLabel('Period').fill('2026-13');
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await page.getByRole('alert').filter({ hasText: 'LEAF_PERIOD_INVALID' }).waitFor();
});

it('says why a number cannot be settled', async () => {
  await issue('invoice', ['late']);
  await view.show('numbers');
  await page.getByLabel('Period').fill(YEAR);
  await page.getByLabel('State').selectOption('issued');
  await row('late').getByRole('button', { name: 'Void' }).click();
  await call(port, '/api/numbers/invoice/late/confirm', { method: 'POST' });
  await dialog().getByLabel('Reason').fill('mistake');
  await dialog().getByRole('button', { name: 'Void' }).click();
  await dialog().getByRole('alert').filter({ hasText: 'LEAF_NUMBER_SETTLED' }).waitFor();
  await dialog().getByRole('button', { name: 'Cancel' }).click();
});

it('continues a tag after the last number on a document', async () => {
  await page.getByRole('button', { name: 'Continue' }).click();
  const fields = { 'Last number on a document': '5', Reason: 'restored a backup', 'Type invoice': 'invoic' };
  for (const [label, value] of Object.entries(fields)) await dialog().getByLabel(label).fill(value);
  const act = dialog().getByRole('button', { name: 'Continue' });
  expect(await act.isDisabled()).toBe(true);
  await dialog().getByLabel('Type invoice').fill('invoice');
  expect(await view.findings()).toStrictEqual([]);
  await act.click();
  await said('Tag invoice continues. Void numbers added: 2.');
  await page.getByLabel('State').selectOption('void');
  await row(`INV-${YEAR}-0005`).getByText('restored a backup').waitFor();
});

it('audits a period, and gives the list as a file and as a page', async () => {
  await page.getByRole('button', { name: 'Audit' }).click();
  await dialog().getByText('No number is missing, and the journal is intact.').waitFor();
  const fact = (label: string): Promise<string> =>
    dialog().locator('dl > div').filter({ hasText: label }).locator('dd').innerText();
  const labels = ['period', 'first number', 'last number', 'open', 'confirmed', 'without gaps', 'lines of the journal'];
  expect(await Promise.all(labels.map(fact))).toEqual([
    YEAR,
    '1',
    '5',
    '1',
    '2',
    'yes',
    expect.stringMatching(/^\d+$/),
  ]);
  expect(await fact('hash of the last line')).toMatch(/[0-9a-f]{16}/);
  expect(await view.findings()).toStrictEqual([]);
  const download = page.waitForEvent('download');
  await dialog().getByRole('link', { name: 'All numbers as CSV' }).click();
  expect((await download).suggestedFilename()).toBe(`invoice-${YEAR}.csv`);
  expect(readFileSync(await (await download).path(), 'utf8')).toContain('printer jam');
  const opened = page.context().waitForEvent('page');
  await dialog().getByRole('link', { name: 'Printable page' }).click();
  await (await opened).getByRole('heading', { name: `Numbers of invoice in ${YEAR}` }).waitFor();
  await (await opened).close();
  await dialog().getByRole('button', { name: 'Close' }).click();
  await dialog().waitFor({ state: 'detached' });
});

it('shows what an audit misses', async () => {
  const { body } = await call(port, '/api/numbers/invoice/audit');
  const missing = [
    { from: '2', to: '2' },
    { from: '7', to: '9' },
  ];
  const fault = { number: '2', problem: 'the row of the document "order 2" is missing' };
  await page.route('**/audit?*', (route) =>
    route.fulfill({ json: { ...(JSON.parse(body) as object), missing, fault, contiguous: false, intact: false } }),
  );
  await page.getByRole('button', { name: 'Audit' }).click();
  await dialog().getByText('The records are not complete.').waitFor();
  await dialog().getByText('2, 7 … 9').waitFor();
  await dialog().getByText(`2 ${fault.problem}`).waitFor();
  await page.unroute('**/audit?*');
  await dialog().getByRole('button', { name: 'Close' }).click();
});

it('loads a long list page by page', async () => {
  await admin(port, 'POST', '/api/tags', { tag: 'receipt', order: 'gapless' });
  for (const part of [0, 1]) {
    await issue(
      'receipt',
      Array.from({ length: 700 }, (_, index) => `r${part}-${index}`),
    );
  }
  await view.show('numbers/receipt');
  await page.reload();
  await said('1,000 shown');
  expect(await page.getByLabel('Period').count()).toBe(0);
  await page.getByRole('button', { name: 'Load more' }).click();
  await said('1,400 shown');
  await page.getByRole('columnheader', { name: 'number' }).getByRole('button').click();
  await page.getByRole('columnheader', { name: 'number' }).getByRole('button').click();
  await row('1400').waitFor();
  await page.getByLabel('Tag', { exact: true }).selectOption('invoice');
  await row('<b>3</b>').waitFor();
  expect(page.url()).toContain('#/numbers/invoice');
});

it('sends the token of a client, and links only without a token', async () => {
  const env = { LEAF_ADMIN_TOKEN: ADMIN_TOKEN, LEAF_CLIENT_TOKENS: `shop:${CLIENT_TOKEN}` };
  const server = await servers.start(await servers.makeDirectory(), env);
  await admin(server.port, 'POST', '/api/tags', { tag: 'receipt', order: 'gapless' });
  await issue('receipt', ['a'], server.port);
  const other = await ConsolePage.open(browser, server.port);
  await other.show('numbers');
  await other.page.getByRole('alert').filter({ hasText: 'LEAF_UNAUTHORIZED' }).waitFor();
  await other.page.getByRole('textbox', { name: 'Admin token' }).fill(CLIENT_TOKEN);
  await other.page.getByRole('button', { name: 'Use', exact: true }).click();
  await other.page.getByRole('button', { name: 'Confirm 1' }).click();
  await other.page.getByRole('dialog').getByRole('button', { name: 'Confirm' }).click();
  await other.page.getByRole('status').filter({ hasText: 'Confirmed 1.' }).waitFor();
  await other.page.getByRole('row').filter({ hasText: 'confirmed' }).getByText('shop').first().waitFor();
  expect(other.faults).toStrictEqual([]);
  await other.close();
});

it.each(APPEARANCES)('is accessible and fits at $width px in $colorScheme colours', async ({ width, colorScheme }) => {
  await page.emulateMedia({ colorScheme });
  await page.setViewportSize({ width, height: 844 });
  await view.show('numbers/invoice');
  for (const state of ['issued', 'void']) {
    await page.getByLabel('State').selectOption(state);
    await said(state === 'issued' ? '1 shown' : '2 shown');
    expect([state, await view.findings()]).toEqual([state, []]);
    expect([state, await view.overflow(), await view.clippedRows()]).toEqual([state, 0, 0]);
  }
});
