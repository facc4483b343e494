import type { Browser, Locator, Page } from 'playwright-core';
import { ADMIN_TOKEN } from '../support/http/admin';
import { ConsolePage, launchBrowser } from '../support/browser';
import { ensureBuilt } from '../support/build';
import { BuiltServers } from '../support/servers/built-server';
import { call, json, text } from '../support/http/http';

interface Row {
  readonly maxId: string;
  readonly step: number;
  readonly description: string;
}

const servers = new BuiltServers();
let browser: Browser;
let port: number;
let view: ConsolePage;
let page: Page;

beforeAll(async () => {
  await ensureBuilt();
  browser = await launchBrowser();
  ({ port } = await servers.start(await servers.makeDirectory(), { LEAF_ADMIN_TOKEN: ADMIN_TOKEN }));
});

afterAll(async () => {
  await servers.end();
  await browser.close();
});

/** Every test with a tab of its own, and nothing remembered. */
beforeEach(async () => {
  view = await ConsolePage.open(browser, port);
  page = view.page;
  await view.show('tags');
});

afterEach(async () => {
  await view.close();
  expect(view.faults).toStrictEqual([]);
});

const dialog = (): Locator => page.getByRole('dialog');
const row = (name: string): Locator => page.getByRole('row').filter({ hasText: name });
const said = (words: string): Promise<void> => page.getByRole('status').filter({ hasText: words }).waitFor();
const rowOf = (tag: string): Promise<Row> => json<Row>(port, `/api/tags/${tag}`);

async function useToken(token = ADMIN_TOKEN): Promise<void> {
  await page.getByRole('textbox', { name: 'Admin token' }).fill(token);
  await page.getByRole('button', { name: 'Use', exact: true }).click();
  await said('Token in use');
}

async function create(tag: string, fields: Readonly<Record<string, string>> = {}): Promise<void> {
  await page.getByRole('button', { name: 'New tag' }).click();
  for (const [label, value] of Object.entries({ Name: tag, ...fields })) await dialog().getByLabel(label).fill(value);
  await dialog().getByRole('button', { name: 'Create' }).click();
}

it('creates a tag, edits it and deletes it', async () => {
  await useToken();
  await create('order', { Step: '500', 'First ID': '9007199254740993', Description: 'order numbers' });
  await said('Created tag order.');
  await row('order').getByText('9007199254740993').waitFor();
  expect(await text(port, '/api/segment/get/order')).toBe('9007199254740993');

  await page.getByRole('button', { name: 'Edit order' }).click();
  await dialog().getByLabel('Step').fill('700');
  await dialog().getByLabel('Description').fill('');
  await dialog().getByLabel('Raise max_id to').fill('9007199254799999');
  await dialog().getByRole('button', { name: 'Save' }).click();
  await said('Saved tag order.');
  expect(await rowOf('order')).toMatchObject({ step: 700, maxId: '9007199254799999', description: '' });
  await row('order').getByText('700').waitFor();

  await page.getByRole('button', { name: 'Delete order' }).click();
  const confirm = dialog().getByRole('button', { name: 'Delete' });
  expect(await confirm.isDisabled()).toBe(true);
  await dialog().getByLabel('Type order to confirm').fill('orde');
  expect(await confirm.isDisabled()).toBe(true);
  await dialog().getByLabel('Type order to confirm').fill('order');
  await confirm.click();
  await said('Deleted tag order.');
  expect((await call(port, '/api/tags/order')).status).toBe(404);
  await row('order').waitFor({ state: 'detached' });
});

it('shows and changes the settings of a tag', async () => {
  await useToken();
  await page.getByRole('button', { name: 'New tag' }).click();
  const fields = { Name: 'receipt', Step: '100', 'Largest segment': '200', 'Last ID': '9999', Description: 'receipts' };
  for (const [label, value] of Object.entries(fields)) await dialog().getByLabel(label).fill(value);
  await dialog().getByText('More settings').click();
  await dialog().getByLabel('Order').selectOption('strict');
  await dialog().getByLabel('Restarts').selectOption('monthly');
  await dialog().getByLabel('Time zone').fill('Europe/Berlin');
  expect(await view.findings()).toStrictEqual([]);
  await dialog().getByRole('button', { name: 'Create' }).click();
  await said('Created tag receipt.');
  const kind = { order: 'strict', reset: 'monthly', zone: 'Europe/Berlin' };
  expect(await rowOf('receipt')).toMatchObject({ ...kind, step: 100, maxStep: 200, max: '9999' });
  for (const badge of ['strict', 'monthly Europe/Berlin', '≤ 200 per segment', 'up to 9999']) {
    await row('receipt').getByText(badge).waitFor();
  }

  await page.getByRole('button', { name: 'Edit receipt' }).click();
  await dialog().getByLabel('Largest segment').fill('');
  await dialog().getByLabel('Last ID').fill('99999');
  await dialog().getByRole('button', { name: 'Save' }).click();
  await said('Saved tag receipt.');
  const { maxStep, ...saved } = (await rowOf('receipt')) as Row & { maxStep?: number };
  expect(maxStep).toBeUndefined();
  expect(saved).toMatchObject({ ...kind, max: '99999' });

  await page.getByRole('button', { name: 'New tag' }).click();
  await dialog().getByLabel('Name').fill('shared');
  await dialog().getByText('More settings').click();
  const share = {
    'Databases that share the tag': '3',
    'Index of this database': '1',
    'Consecutive IDs per database': '1000',
  };
  for (const [label, value] of Object.entries(share)) await dialog().getByLabel(label).fill(value);
  await dialog().getByRole('button', { name: 'Create' }).click();
  await said('Created tag shared.');
  await row('shared').getByText('1 of 3, blocks of 1000').waitFor();
  expect(await text(port, '/api/segment/get/shared')).toBe('1001');
});

it('pauses a tag, and lets it go on', async () => {
  await useToken();
  await create('invoice');
  await said('Created tag invoice.');
  await page.getByRole('button', { name: 'Pause invoice' }).click();
  await said('Paused tag invoice on this server.');
  await row('invoice').getByText('paused').waitFor();
  expect((await call(port, '/api/segment/get/invoice')).status).toBe(503);
  await view.show('segments');
  await row('invoice').getByText('paused').waitFor();
  await view.show('tags');
  await page.getByRole('button', { name: 'Resume invoice' }).click();
  await row('invoice').getByText('serving').waitFor();
  expect(await text(port, '/api/segment/get/invoice')).toBe('1');
});

it('says beside the act why it failed', async () => {
  await useToken();
  await create('coupon', { 'First ID': '5000' });
  await said('Created tag coupon.');
  await create('coupon');
  await dialog().getByRole('alert').filter({ hasText: 'LEAF_TAG_EXISTS' }).waitFor();
  await dialog().getByLabel('Name').fill('no tag');
  await dialog().getByRole('button', { name: 'Create' }).click();
  await dialog().getByRole('alert').filter({ hasText: 'LEAF_TAG_INVALID' }).waitFor();
  await dialog().getByLabel('Name').fill('fine');
  await dialog().getByLabel('Step').fill('none');
  await dialog().getByRole('button', { name: 'Create' }).click();
  await dialog().getByRole('alert').filter({ hasText: 'step must be a whole number' }).waitFor();
  await dialog().getByRole('button', { name: 'Cancel' }).click();

  await page.getByRole('button', { name: 'Edit coupon' }).click();
  expect(await dialog().getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
  await dialog().getByLabel('Raise max_id to').fill('4999');
  await dialog().getByRole('button', { name: 'Save' }).click();
  await dialog().getByRole('alert').filter({ hasText: 'LEAF_MAX_ID_BACKWARDS' }).waitFor();
  expect(await view.findings()).toStrictEqual([]);
  expect((await rowOf('coupon')).maxId).toBe('5000');
});

it('does nothing without the right token, and takes another one at once', async () => {
  await page.getByRole('button', { name: 'New tag' }).click();
  await dialog().getByLabel('Name').fill('refund');
  expect(await dialog().getByRole('button', { name: 'Create' }).isDisabled()).toBe(true);
  await page.keyboard.press('Escape');
  await dialog().waitFor({ state: 'detached' });

  await useToken('wrong-token-0123456789');
  await create('refund');
  await dialog().getByRole('alert').filter({ hasText: 'The token is not accepted.' }).waitFor();
  expect((await call(port, '/api/tags/refund')).status).toBe(404);
  await dialog().getByRole('button', { name: 'Forget' }).click();
  await dialog().getByLabel('Admin token').fill(ADMIN_TOKEN);
  await dialog().getByRole('button', { name: 'Use', exact: true }).click();
  await dialog().getByRole('button', { name: 'Create' }).click();
  await said('Created tag refund.');
});

it('keeps the token for this tab alone', async () => {
  await useToken();
  await page.reload();
  await said('Token in use');
  expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain(ADMIN_TOKEN);
  expect(await page.content()).not.toContain(ADMIN_TOKEN);
  await page.getByRole('button', { name: 'Forget' }).click();
  await page.reload();
  await page.getByRole('textbox', { name: 'Admin token' }).waitFor();
  expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain(ADMIN_TOKEN);
});
