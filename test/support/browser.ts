import { readFileSync } from 'node:fs';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { requireTool } from './tools';

/** Each step of a test; far beyond what any machine needs. */
const STEP_LIMIT_MS = 60_000;

/** The accessibility checker, as text: the page's own policy would not let it be loaded. */
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

export async function launchBrowser(): Promise<Browser> {
  const executablePath = await requireTool('chromium');
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });
}

interface AxeResult {
  readonly violations: readonly { readonly id: string; readonly impact: string | null; readonly nodes: unknown[] }[];
}

/** A tab with the console in it, and all that it should not have done. */
export class ConsolePage {
  /** Errors of scripts, refusals by the content security policy, requests to anywhere else. */
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

  /** Opens it and waits until it shows what the server says. */
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

  /** What axe finds that is serious or worse: the rule, and how often. */
  async seriousFindings(): Promise<string[]> {
    await this.page.evaluate(AXE);
    const { violations } = await this.page.evaluate<AxeResult>("axe.run({ resultTypes: ['violations'] })");
    const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
    return serious.map(({ id, nodes }) => `${id} × ${nodes.length}: ${JSON.stringify(nodes[0]).slice(0, 400)}`);
  }

  async close(): Promise<void> {
    await this.context.close();
  }
}
