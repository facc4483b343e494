import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../../support/browser';
import { buildSite, buildSmallSite, originOf, serve, smallRepository, writePage } from './site';

const BASE = '/leaf/';
const BUILD_MS = 300_000;

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'leaf-site-'));
  await buildSite(join(folder, 'site'), BASE);
}, BUILD_MS);
afterAll(() => rm(folder, { recursive: true }));

describe('in a browser without the Internet, below a path', () => {
  let server: Server;
  let origin: string;
  let browser: Browser;
  let page: Page;
  let faults: string[];

  beforeAll(async () => {
    server = await serve(join(folder, 'site'), BASE);
    origin = originOf(server);
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser.close();
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  });

  beforeEach(async () => {
    faults = [];
    page = await browser.newPage({ viewport: { width: 1280, height: 800 }, permissions: [] });
    page.setDefaultTimeout(60_000);
    page.on('pageerror', ({ message }) => faults.push(message));
    page.on('request', (request) => {
      if (!request.url().startsWith(`${origin}${BASE}`)) faults.push(request.url());
    });
  });
  afterEach(async () => {
    await page.close();
    expect(faults).toStrictEqual([]);
  });

  it.each([
    ['', 'en', 'rounded numbers exact', 'Search', '/leaf/javascript-numbers.html', '53-bit IDs and JavaScript numbers'],
    ['zh/', 'zh-CN', '时钟回拨', '搜索', '/leaf/zh/', '时钟回拨'],
  ])('%p is in the language %p and finds a page by %p', async (path, language, words, button, result, text) => {
    await page.goto(`${origin}${BASE}${path}`);
    expect(await page.locator('html').getAttribute('lang')).toBe(language);
    // The buttons are there before their code.
    await page.waitForFunction("'__vue_app__' in document.querySelector('#app')");
    await page.getByRole('button', { name: button }).click();
    await page.getByRole('searchbox').fill(words);
    const first = page.locator(`.results a[href^="${result}"]`).first();
    await first.click();
    await page.waitForURL(`${origin}${result}**`);
    await page.getByRole('main').getByText(text).first().waitFor();
  });

  it.each([
    ['none', 'PAGE NOT FOUND', '/leaf/'],
    ['zh/none', '页面不存在', '/leaf/zh/'],
  ])('%p leads from a page that says 404 to the index', async (path, title, index) => {
    expect((await page.goto(`${origin}${BASE}${path}`))?.status()).toBe(404);
    await page.getByRole('heading', { name: title }).waitFor();
    await page.locator(`.NotFound a[href="${index}"]`).click();
    await page.getByRole('main').getByRole('table').first().waitFor();
  });

  it('shows every image', async () => {
    await page.goto(`${origin}${BASE}introduction.html`, { waitUntil: 'networkidle' });
    const widths = await page
      .locator('main img')
      .evaluateAll((images) => images.map((image) => (image as unknown as { naturalWidth: number }).naturalWidth));
    expect(widths.length).toBeGreaterThan(0);
    expect(widths.every((width) => width > 0)).toBe(true);
  });
});

describe('the build', () => {
  let repository: string;

  beforeAll(async () => {
    repository = join(folder, 'repository');
    await smallRepository(repository);
  });

  it('succeeds with links to pages, files and headings that exist', async () => {
    await writePage(
      repository,
      'docs/other.md',
      '# Other\n\n[Page](README.md#page) [here](#other) [text](../LICENSE)\n',
    );
    await writePage(repository, 'LICENSE', 'text');
    await buildSmallSite(repository);
  });

  it.each([
    ['a page that does not exist', '[other](none.md)', 'Dead link in docs: none.md'],
    ['a file that does not exist', '[other](../none.ts)', 'Dead link in docs: ../none.ts'],
    ['HTML', '<b>other</b>', 'put HTML into backticks'],
  ])('fails for %s', async (_, text, message) => {
    await writePage(repository, 'docs/other.md', `# Other\n\n${text}\n`);
    await expect(buildSmallSite(repository)).rejects.toThrow(message);
  });

  it('fails for headings that the page itself or another page does not have', async () => {
    await writePage(repository, 'docs/other.md', '# Other\n\n[here](#none) [other](README.md#none)\n');
    const built = buildSmallSite(repository);
    await expect(built).rejects.toThrow('/other.html: #none');
    await expect(built).rejects.toThrow('/other.html: /#none');
  });
});
