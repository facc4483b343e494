import { join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { APPEARANCES, ConsolePage, launchBrowser } from '../support/browser';
import { ensureBuilt } from '../support/build';
import { freePorts } from '../support/free-port';
import { ADMIN_TOKEN } from '../support/http/admin';
import { call, json, text } from '../support/http/http';
import { type BuiltServer, BuiltServers } from '../support/servers/built-server';
import { changeWorkers } from '../support/servers/data-directory';
import { until } from '../support/until';

const CLUSTER_TOKEN = 'cluster-token-0123456789';
const HOUR_MS = 3_600_000;

const servers = new BuiltServers();
let browser: Browser;
let fleet: BuiltServer[];
let view: ConsolePage;
let page: Page;

/** Five servers on one database: the fourth hangs, the fifth has crashed. */
beforeAll(async () => {
  await ensureBuilt();
  browser = await launchBrowser();
  const directory = await servers.makeDirectory();
  const ports = await freePorts(5);
  const start = (port: number, index: number): Promise<BuiltServer> =>
    servers.start(directory, {
      LEAF_PORT: String(port),
      LEAF_NAME: `server-${index}`,
      LEAF_DATABASE_URL: `sqlite:${join(directory, 'leaf.sqlite')}`,
      LEAF_SNOWFLAKE_REGISTRY: 'database',
      LEAF_CLUSTER_TOKEN: CLUSTER_TOKEN,
      LEAF_ADMIN_TOKEN: ADMIN_TOKEN,
    });
  const creator = await start(ports[0]!, 0);
  creator.signal('SIGTERM');
  await creator.exit();
  const write = (ceilings: readonly number[]): Promise<true> =>
    changeWorkers(
      directory,
      `INSERT OR REPLACE INTO leaf_worker_pool (id, ip_port, max_timestamp, lease_id) VALUES
        (40, '10.0.0.40:8080', ${ceilings[0]}, 'a.1'), (41, '10.0.0.41:8080', ${ceilings[1]}, 'b.1.free'),
        (1023, '10.9.9.9:8080', ${ceilings[2]}, 'c.1')`,
    );
  const ahead = Date.now() + HOUR_MS;
  // No server takes these worker IDs while their ceilings are ahead.
  await write([ahead, ahead, ahead]);
  fleet = await Promise.all(ports.map(start));
  const first = fleet[0]!;
  const now = Date.now();
  await write([now - 60_000, now - 60_000, now - 2 * HOUR_MS]);
  fleet[3]!.signal('SIGSTOP');
  await fleet[4]!.kill();
  view = await ConsolePage.open(browser, first.port);
  page = view.page;
});

afterAll(async () => {
  await servers.end();
  await browser.close();
});

afterEach(() => expect(view.faults.splice(0)).toStrictEqual([]));

const instance = (index: number): string => `127.0.0.1:${fleet[index]!.port}`;
const row = (name: string): Locator => page.getByRole('row').filter({ hasText: name });
const servingRow = (index: number): Locator => row(instance(index));

async function showServers(): Promise<void> {
  await view.show('cluster');
  await page.getByRole('table', { name: 'Servers' }).waitFor();
}

describe('the servers', () => {
  beforeEach(showServers);

  it('shows each with its state, version, worker and lease, clock and tags', async () => {
    for (const index of [0, 1, 2]) {
      const line = servingRow(index);
      await line.getByText('ready').waitFor();
      const told = await line.innerText();
      expect(told).toContain('0.1.0');
      expect(told).toMatch(/\d min left/);
      expect(told).toContain('1 tag');
      expect(told).toContain('no server error');
    }
    await servingRow(0).getByText('this server').waitFor();
    const ids = await page.locator('.servers-table .table-body .cell-worker span[title]').allInnerTexts();
    expect(new Set(ids).size).toBe(3);
  });

  it('shows the one that hangs and the one that is down, with the reason and since when', async () => {
    for (const index of [3, 4]) {
      await servingRow(index).getByText('no valid response').waitFor();
      await servingRow(index).getByText('did not respond').waitFor();
      await servingRow(index).getByText('not reached yet').waitFor();
    }
    await row('10.0.0.40:8080').getByText('lease expired').waitFor();
    // The minute, and what the tests before this one took.
    await row('10.0.0.40:8080')
      .getByText(/\b\d+m ago/)
      .waitFor();
    await page.getByText('3 of 6', { exact: true }).waitFor();
    expect(await row('10.9.9.9').count()).toBe(0);
  });

  it('says when a server answered last', async () => {
    fleet[2]!.signal('SIGSTOP');
    await servingRow(2).getByText('last answer').waitFor();
    fleet[2]!.signal('SIGCONT');
    await servingRow(2).getByText('ready').waitFor();
  });

  it('draws the rate of each from answer to answer', async () => {
    const { port } = fleet[1]!;
    await until('a rate', async () => {
      await text(port, '/api/segment/range/leaf-segment-test?size=5000');
      return /[1-9]/.test(await servingRow(1).locator('.rate-number').innerText());
    });
    await servingRow(1).locator('.spark-area').waitFor();
    await servingRow(1).getByText('leaf-segment-test').first().waitFor();
  });

  it('filters, searches and sorts', async () => {
    await page.getByLabel('Show').selectOption('trouble');
    await page.getByText('3 of 6 servers').waitFor();
    await page.getByLabel('Search').fill('10.0.0.40');
    await page.getByText('1 of 6 servers').waitFor();
    await page.getByLabel('Search').fill('nothing');
    await page.getByText('No server matches.').waitFor();
    await page.getByLabel('Search').fill('');
    await page.getByLabel('Show').selectOption('all');
    await page.getByRole('columnheader', { name: 'state' }).getByRole('button').click();
    await until('servers without a valid response first', async () => {
      const states = await page.locator('.table-body .server-word').allInnerTexts();
      return (
        states.map((word) => word.trim()).join() ===
        'no valid response,no valid response,lease expired,ready,ready,ready'
      );
    });
  });
});

describe('commands', () => {
  const dialog = (): Locator => page.getByRole('dialog');
  const paused = async (index: number): Promise<boolean> =>
    (await call(fleet[index]!.port, '/api/segment/get/leaf-segment-test')).status === 503;

  beforeAll(async () => {
    await showServers();
    await page.getByRole('button', { name: 'Command to servers' }).click();
    await dialog().getByRole('textbox', { name: 'Admin token' }).fill(ADMIN_TOKEN);
    await dialog().getByRole('button', { name: 'Use', exact: true }).click();
    await dialog().getByRole('button', { name: 'Cancel' }).click();
  });

  beforeEach(showServers);

  it('pauses and resumes a tag on all, and says the result of each', async () => {
    const give = async (command: string): Promise<void> => {
      await page.getByRole('button', { name: 'Command to servers' }).click();
      await dialog().getByLabel('Command', { exact: true }).selectOption(command);
      await dialog().getByLabel('Tag').fill('leaf-segment-test');
      expect(await view.findings()).toStrictEqual([]);
      await dialog().getByRole('button', { name: 'Run' }).click();
      await page.getByRole('status').filter({ hasText: 'done on 3 of 5 servers' }).waitFor();
    };
    await give('pause-tag');
    for (const index of [0, 1, 2]) await servingRow(index).getByText('pause tag leaf-segment-test: done').waitFor();
    for (const index of [3, 4])
      await servingRow(index)
        .getByText(/leaf-segment-test: failed. No response/)
        .waitFor();
    expect(await Promise.all([0, 1, 2].map(paused))).toEqual([true, true, true]);
    await page.getByLabel('Show').selectOption('trouble');
    await page.getByText('3 of 6 servers').waitFor();
    await page.getByLabel('Show').selectOption('all');
    await give('resume-tag');
    // The result of the pause reads the same, so the rows tell when that of the resumption is there.
    for (const index of [0, 1, 2]) await servingRow(index).getByText('resume tag leaf-segment-test: done').waitFor();
    expect(await Promise.all([0, 1, 2].map(paused))).toEqual([false, false, false]);
    await page.getByRole('button', { name: 'Dismiss' }).click();
    expect(await page.locator('.command-result').count()).toBe(0);
  });

  it('drains one server after a confirmation, and undoes it', async () => {
    const open = (): Promise<void> => page.getByRole('button', { name: `Command to ${instance(1)}` }).click();
    const run = dialog().getByRole('button', { name: 'Run' });
    await open();
    await dialog().getByLabel('Command', { exact: true }).selectOption('drain');
    await dialog().getByLabel('Type').fill(instance(0));
    expect(await run.isDisabled()).toBe(true);
    await dialog().getByLabel('Type').fill(instance(1));
    await run.click();
    await servingRow(1).getByText('drain: done').waitFor();
    await servingRow(1).getByText('draining').waitFor();
    await servingRow(2).getByText('ready').waitFor();
    await open();
    await dialog().getByLabel('Command', { exact: true }).selectOption('undrain');
    await run.click();
    await servingRow(1).getByText('undo drain: done').waitFor();
    await servingRow(1).getByText('ready').waitFor();
  });

  it('drains all servers only when their number is typed', async () => {
    await page.getByRole('button', { name: 'Command to servers' }).click();
    await dialog().getByLabel('Command', { exact: true }).selectOption('drain');
    await dialog().getByText('load balancers have no server left').waitFor();
    const run = dialog().getByRole('button', { name: 'Run' });
    await dialog().getByLabel('Type').fill('4');
    expect(await run.isDisabled()).toBe(true);
    await dialog().getByLabel('Type').fill('5');
    await run.click();
    for (const index of [0, 1, 2]) await servingRow(index).getByText('draining').waitFor();
    await page.getByRole('button', { name: 'Command to servers' }).click();
    await dialog().getByLabel('Command', { exact: true }).selectOption('undrain');
    await run.click();
    for (const index of [0, 1, 2]) await servingRow(index).getByText('ready').waitFor();
  });
});

it('shows a cluster of 300 servers', async () => {
  const [own] = (await json<{ servers: object[] }>(fleet[0]!.port, '/api/cluster')).servers;
  const many = Array.from({ length: 300 }, (_, index) => ({
    ...own,
    self: index === 0,
    instance: `10.1.0.${index}:80`,
  }));
  await page.route('**/api/cluster', (route) =>
    route.fulfill({ json: { asked: true, now: Date.now(), servers: many } }),
  );
  await showServers();
  await page.getByText('301 of 301 servers').waitFor();
  expect(await page.locator('.servers-table .table-body .row').count()).toBeLessThan(60);
  await page.getByLabel('Search').fill('10.1.0.299');
  await row('10.1.0.299:80').waitFor();
  await page.unroute('**/api/cluster');
});

describe('the worker IDs', () => {
  beforeEach(async () => {
    await view.show('cluster/workers');
    await page.getByRole('grid').waitFor();
  });

  it('draws 1024 squares', async () => {
    await page.getByRole('grid', { name: '1,024 worker IDs' }).waitFor();
    expect(await page.getByRole('gridcell').count()).toBe(1024);
    const kinds = (kind: string): Promise<number> => page.locator(`.map-row .square-${kind}`).count();
    expect([await kinds('server'), await kinds('expired'), await kinds('released')]).toEqual([5, 2, 1]);
    expect(await kinds('free')).toBe(1016);
    await page.getByRole('gridcell', { name: 'Worker ID 40: expired at' }).waitFor();
    await page.getByRole('gridcell', { name: 'Worker ID 41: released by 10.0.0.41:8080' }).waitFor();
    await page.getByRole('gridcell', { name: 'Worker ID 500: free' }).waitFor();
    expect(await page.getByRole('gridcell', { name: `held by server ${instance(1)} until` }).count()).toBe(1);
  });

  it('says in words what is under the pointer, and what has the focus', async () => {
    const words = page.locator('.map-words');
    await page.locator('[data-worker="41"]').hover();
    await words.getByText('Worker ID 41: released by 10.0.0.41:8080').waitFor();
    await page.locator('[role=gridcell][tabindex="0"]').focus();
    await page.keyboard.press('PageUp');
    await page.keyboard.press('Home');
    for (let step = 0; step < 8; step++) await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowDown');
    await words.getByText('Worker ID 40: expired at').waitFor();
    await page.keyboard.press('End');
    await page.keyboard.press('PageDown');
    await words.getByText('Worker ID 1023: expired at').waitFor();
    expect(await page.locator('[role=gridcell][tabindex="0"]').getAttribute('data-worker')).toBe('1023');
  });

  it('lists the same in a table', async () => {
    const table = page.getByRole('table', { name: 'Recorded worker IDs' });
    await table.getByText('10.0.0.41:8080').waitFor();
    await page.getByLabel('Search').fill('1023');
    await page.getByText('1 of 8').waitFor();
    await table.getByText('10.9.9.9:8080').waitFor();
  });
});

it('says that one database has all tags, and shows the tags of several', async () => {
  await view.show('cluster/databases');
  await page.getByText('This server has one database, which contains every tag.').waitFor();
  const directory = await servers.makeDirectory();
  const urls = { first: `sqlite:${join(directory, 'a.sqlite')}`, second: `sqlite:${join(directory, 'b.sqlite')}` };
  const { port } = await servers.start(directory, {
    LEAF_DATABASE_URLS: JSON.stringify(urls),
    LEAF_DATABASE_TAGS: '{"leaf-segment-test":"second"}',
  });
  const other = await ConsolePage.open(browser, port);
  await other.show('cluster/databases');
  await other.page.getByRole('region', { name: 'second' }).getByText('leaf-segment-test').waitFor();
  await other.show('tags');
  await other.page.getByRole('row').getByText('in second').waitFor();
  await other.show('cluster');
  await other.page.getByText('The cluster token is not set').waitFor();
  expect(other.faults).toStrictEqual([]);
  await other.close();
});

it.each(APPEARANCES)('is accessible and fits at $width px in $colorScheme colours', async ({ width, colorScheme }) => {
  await page.emulateMedia({ colorScheme });
  await page.setViewportSize({ width, height: 844 });
  for (const [name, part] of [
    ['cluster', '.servers-table .table-body .row'],
    ['cluster/workers', '.workers-table .table-body .row'],
    ['cluster/databases', '.empty'],
  ] as const) {
    await view.show(name);
    await page.locator(part).first().waitFor();
    expect([name, await view.findings()]).toEqual([name, []]);
    expect([name, await view.overflow(), await view.clippedRows()]).toEqual([name, 0, 0]);
  }
});

it('says so if its code cannot be loaded', async () => {
  const other = await ConsolePage.open(browser, fleet[0]!.port);
  await other.page.route('**/assets/cluster-page-*', (route) => route.abort());
  await other.show('cluster');
  await other.page.getByRole('alert').filter({ hasText: 'reload the console' }).waitFor();
  await other.close();
});
