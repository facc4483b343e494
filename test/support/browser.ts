import { readFileSync } from 'node:fs';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { requireTool } from './tools';

/** Time limit of each step; more than slow machines need. */
const STEP_LIMIT_MS = 60_000;

/** A desk and a phone, each in both themes. */
export const APPEARANCES = [1280, 390].flatMap((width) =>
  (['light', 'dark'] as const).map((colorScheme) => ({ width, colorScheme })),
);

/** Source of the accessibility checker, because the content security policy of the page blocks loading it. */
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

export async function launchBrowser(): Promise<Browser> {
  const executablePath = await requireTool('chromium');
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });
}

interface AxeResult {
  readonly violations: readonly { readonly id: string; readonly nodes: unknown[] }[];
}

/** A browser tab with the console, and its errors. */
export class ConsolePage {
  /** Script errors, violations of the content security policy, and requests to other origins. */
  readonly faults: string[] = [];

  private constructor(
    readonly page: Page,
    private readonly context: BrowserContext,
    private readonly origin: string,
  ) {
    page.on('pageerror', ({ message }) => this.faults.push(`error: ${message}`));
    page.on('console', (message) => {
      // The browser itself notes each request of the page that was refused.
      const noted = message.text().startsWith('Failed to load resource') && message.location().url.includes('/api/');
      if (['error', 'warning'].includes(message.type()) && !noted) this.faults.push(message.text());
    });
    page.on('request', (request) => {
      if (!request.url().startsWith(`${origin}/`)) this.faults.push(`request: ${request.url()}`);
    });
  }

  /** Opens the page and waits until it shows data of the server. */
  static async open(browser: Browser, port: number, options: BrowserContextOptions = {}): Promise<ConsolePage> {
    const origin = `http://127.0.0.1:${port}`;
    const context = await browser.newContext({
      viewport: { width: 1280, height: 800 },
      locale: 'en-GB',
      timezoneId: 'Asia/Shanghai',
      permissions: ['clipboard-read', 'clipboard-write'],
      ...options,
    });
    context.setDefaultTimeout(STEP_LIMIT_MS);
    const opened = new ConsolePage(await context.newPage(), context, origin);
    await opened.show('overview');
    await opened.page.getByRole('heading', { name: /^(Parts|组成部分)$/ }).waitFor();
    return opened;
  }

  /** Goes to `#/view`, or `#/view/what`. */
  async show(view: string): Promise<void> {
    await this.page.goto(`${this.origin}/#/${view}`);
    await this.page.locator(`nav a[aria-current=page][href="#/${view.split('/')[0] ?? ''}"]`).waitFor();
  }

  /** How far the page, its content or a table scrolls sideways, in pixels. */
  async overflow(parts = 'html, main, [role=table]'): Promise<number> {
    return this.page.evaluate(
      `Math.max(...[...document.querySelectorAll("${parts}")].map((e) => e.scrollWidth - e.clientWidth))`,
    );
  }

  /** Rows of tables that are too low for one of their cells. */
  async clippedRows(): Promise<number> {
    return this.page.evaluate(
      `[...document.querySelectorAll('.table-body .row')].filter((row) =>
        [...row.children].some((cell) => cell.offsetHeight > row.clientHeight ||
          cell.offsetHeight > 0 && (cell.offsetTop < 0 || cell.offsetTop + cell.offsetHeight > row.clientHeight + 1)),
      ).length`,
    );
  }

  /** All violations that axe reports: the rule and the count. */
  async findings(): Promise<string[]> {
    await this.page.evaluate(AXE);
    const { violations } = await this.page.evaluate<AxeResult>("axe.run({ resultTypes: ['violations'] })");
    return violations.map(({ id, nodes }) => `${id} × ${nodes.length}: ${JSON.stringify(nodes[0]).slice(0, 400)}`);
  }

  async close(): Promise<void> {
    await this.context.close();
  }
}
