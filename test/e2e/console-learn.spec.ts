import type { Browser, Page, Response } from 'playwright-core';
import { ConsolePage, launchBrowser } from '../support/browser';
import { ensureBuilt } from '../support/build';
import { BuiltServers } from '../support/servers/built-server';
import { until } from '../support/until';

/** What opening the page about the lease may load in all, compressed. */
const MOST_BYTES = 100_000;

/** What each rule prevents: a duplicate, or a server without a worker ID. */
const RULES = [
  ['R1', 'A issued IDs above its recorded ceiling', 'A refused requests above its ceiling'],
  ['R2', 'used times that A had already used', 'A2 waited until its clock'],
  ['R3', 'A adopted the record of B', 'The write of A failed'],
  ['R4', 'B used the same times again', 'B acquired worker 0 only when'],
  ['R5', 'B acquired worker 0 at once', 'A registered worker 0 again'],
  ['R6', 'creates the same numbers', 'LEAF_LAYOUT_MISMATCH'],
  ['R7', 'A found its own record and continued', 'it gave up worker 0'],
  ['R8', 'waits for worker 1 without end', 'LEAF_WORKER_HELD'],
  ['R9', 'the ceiling of its wrong clock', 'had lowered the ceiling'],
  ['R10', 'B had reclaimed worker 0 too early', 'did not reclaim worker 0'],
] as const;
/** Without it, a server waits without end, and no ID repeats. */
const NEWCOMER_LOSES = 'R8';

interface Shown {
  readonly rule?: string;
  readonly without?: string;
  readonly broken?: string;
  readonly duplicates?: string;
  readonly ids?: string;
}

const servers = new BuiltServers();
let browser: Browser;
let port: number;
let view: ConsolePage;
let page: Page;

beforeAll(async () => {
  await ensureBuilt();
  browser = await launchBrowser();
  ({ port } = await servers.start(await servers.makeDirectory()));
  // It moves only when the test steps.
  view = await ConsolePage.open(browser, port, { reducedMotion: 'reduce' });
  page = view.page;
});

afterAll(async () => {
  await servers.end();
  await browser.close();
});

afterEach(() => expect(view.faults.splice(0)).toEqual([]));

const film = (on = page): ReturnType<Page['locator']> => on.locator('.learn-film');
const shown = (on = page): Promise<Shown> => on.evaluate('({ ...document.querySelector(".learn-film").dataset })');
const press = (name: string | RegExp, on = page): Promise<void> => on.getByRole('button', { name }).click();

async function playToEnd(on = page): Promise<Shown> {
  await press('To the end', on);
  await film(on).and(on.locator('[data-ended=true]')).waitFor();
  return shown(on);
}

it.each(RULES)('shows what %s prevents: %s', async (rule, without, kept) => {
  await view.show('learn');
  await press(new RegExp(`^${rule} .*Show without ${rule}$`));
  await film()
    .and(page.locator(`[data-rule=${rule}][data-without=${rule}][data-ended=false]`))
    .waitFor();
  const broken = await playToEnd();
  expect(broken).toMatchObject({ rule, without: rule, broken: 'true' });
  const repeats = rule !== NEWCOMER_LOSES;
  expect(Number(broken.duplicates) > 0).toBe(repeats);
  expect(await film().getByRole('status').innerText()).toMatch(
    repeats ? /IDs were issued twice\. \d+ was issued by A2? as worker \d and by|B as worker/ : /without a worker ID/,
  );
  expect(await page.locator('.learn-twice').count()).toBe(Number(broken.duplicates));
  expect(await page.locator('.learn-caption').innerText()).toContain(without);

  await press(`Same schedule with ${rule}`);
  await film().and(page.locator('[data-without=""][data-ended=false]')).waitFor();
  const whole = await playToEnd();
  expect(whole).toMatchObject({ rule, without: '', broken: 'false', duplicates: '0' });
  expect(Number(whole.ids)).toBeGreaterThan(8);
  expect(await film().getByRole('status').innerText()).toBe(`${whole.ids ?? ''} IDs, all different.`);
  expect(await page.locator('.learn-caption').innerText()).toContain(kept);
});

it('has a switch for each rule, and is used by keyboard alone', async () => {
  await view.show('learn');
  await press(/^R3 /);
  await film().and(page.locator('[data-without=R3][data-ended=false]')).waitFor();
  expect(await page.getByRole('switch').count()).toBe(RULES.length);
  const rule3 = page.getByRole('switch', { name: 'Rule R3 applies' });
  expect(await rule3.isChecked()).toBe(false);
  await rule3.focus();
  await page.keyboard.press('Space');
  await film().and(page.locator('[data-without=""][data-ended=false]')).waitFor();
  expect(await rule3.isChecked()).toBe(true);
  await page.getByRole('button', { name: 'To the end' }).focus();
  await page.keyboard.press('Enter');
  await film().and(page.locator('[data-ended=true][data-broken=false]')).waitFor();
  await page.getByRole('button', { name: 'Restart' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Step' }).focus();
  const caption = page.locator('.learn-caption[aria-live=polite]');
  for (let step = 0; !(await caption.innerText()).startsWith('A is paused'); step++) {
    expect(step).toBeLessThan(20);
    await page.keyboard.press('Enter');
    await page.waitForTimeout(50);
  }
  expect(await page.getByRole('button', { name: 'Play', exact: true }).count()).toBe(0);
});

it('plays by itself, where motion is wanted, also without the server', async () => {
  const moving = await ConsolePage.open(browser, port);
  try {
    await moving.show('learn/R1');
    await moving.page.getByRole('button', { name: 'Pause playback' }).waitFor();
    await moving.page.context().setOffline(true);
    await until('IDs', async () => Number((await shown(moving.page)).ids) > 3);
    await press('Pause playback', moving.page);
    await press('Restart', moving.page);
    await playToEnd(moving.page);
    expect(Number((await shown(moving.page)).duplicates)).toBeGreaterThan(0);
    // The other pages reconnect meanwhile.
    expect(moving.faults.filter((fault) => !fault.includes('ERR_INTERNET_DISCONNECTED'))).toEqual([]);
  } finally {
    await moving.close();
  }
});

it('lets servers be crashed, paused and disconnected, with no duplicate', async () => {
  await view.show('learn');
  await press(/^R1 /);
  await press('Same schedule with R1');
  await press('Free play');
  await film().and(page.locator('[data-without=""]:not([data-rule])')).waitFor();
  const act = async (name: string): Promise<void> => {
    await press(name);
    for (let step = 0; step < 2; step++) await press('Step');
  };
  await act('Crash: server A');
  await act('Pause: server B');
  await act('Disconnect: server C');
  await act('Start: server A');
  await act('Resume: server B');
  await act('Clock −3 s: server C');
  await act('Lose all data');
  await act('Connect: server C');
  const { ids, duplicates } = await shown();
  expect([Number(ids) > 10, duplicates]).toEqual([true, '0']);
  const log = await page.getByRole('region', { name: 'What happened' }).innerText();
  expect(log).toMatch(/registers worker \d again|acquires worker \d/);
});

it('is translated to Chinese', async () => {
  await view.show('learn');
  await press('中');
  await page.getByRole('heading', { name: '为什么 ID 不会重复' }).waitFor();
  expect(await page.locator('.learn').innerText()).not.toMatch(/\b(the|without|server|worker)\b/);
  await press('en');
  await page.getByRole('heading', { name: 'Why no ID repeats' }).waitFor();
});

it('loads few bytes', async () => {
  const context = await browser.newContext();
  try {
    const fresh = await context.newPage();
    const responses: Response[] = [];
    fresh.on('response', (response) => responses.push(response));
    await fresh.goto(`http://127.0.0.1:${port}/#/learn`);
    await fresh.locator('.learn-controls').waitFor();
    const files = responses.filter((response) => !response.url().includes('/api/'));
    expect(files.map((response) => new URL(response.url()).pathname)).toContainEqual(
      expect.stringMatching(/learn-page.*\.js$/),
    );
    const sizes = await Promise.all(files.map((response) => response.request().sizes()));
    const bytes = sizes.reduce((sum, { responseBodySize }) => sum + responseBodySize, 0);
    expect(bytes).toBeGreaterThan(40_000);
    expect(bytes).toBeLessThan(MOST_BYTES);
  } finally {
    await context.close();
  }
});

it.each(['light', 'dark'] as const)('is accessible in %s, on a desktop and on a phone', async (colorScheme) => {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 844 });
    await view.show('learn');
    await press(/^R2 /);
    await film().and(page.locator('[data-rule=R2][data-ended=false]')).waitFor();
    expect([width, 'before', await view.findings()]).toEqual([width, 'before', []]);
    await playToEnd();
    expect([width, 'after', await view.findings()]).toEqual([width, 'after', []]);
    const beyond =
      'Math.max(...[...document.querySelectorAll("html, main, .learn-timeline")].map((e) => e.scrollWidth - e.clientWidth))';
    expect([width, await page.evaluate(beyond)]).toEqual([width, 0]);
  }
});
