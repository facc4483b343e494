// Writes screenshots of every console view to screenshots/. Starts a server and generates load for real data.
// Usage: node scripts/screenshots.mjs [seconds of load before the first screenshot, 20 by default]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import './ensure-build.mjs';

const ROOT = join(import.meta.dirname, '..');
const OUT = join(ROOT, 'screenshots');
/** Route and file name of each view. */
const VIEWS = {
  ...{ overview: 'overview', segments: 'segments', tags: 'tags', snowflake: 'snowflake' },
  ...{ cluster: 'cluster', 'cluster/workers': 'workers', 'decoder/1169786042799259000': 'decoder', try: 'try' },
};
const SIZES = { desk: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };
const TOKEN = 'screenshots-0123456789';
/** Name, step and description of each tag, and IDs to request per second. */
const TAGS = [
  ['order', 200_000, 'order numbers of the shop', 9200],
  ['invoice', 20_000, 'invoice numbers', 31],
  ['payment', 100_000, 'payments and refunds', 2600],
  ['shipment', 50_000, 'parcels', 240],
  ['user', 2000, 'accounts', 4],
  ['cart', 5000, 'shopping carts', 380],
  ['message', 500_000, 'messages of the chat', 7400],
  ['coupon', 1000, 'voucher codes', 0],
  ['ticket', 2000, 'requests for support', 0.7],
  ['stock-movement', 100_000, '', 1100],
];

const seconds = Number(process.argv[2] ?? 20);
const directory = mkdtempSync(join(tmpdir(), 'leaf-'));
const server = spawn(process.execPath, [join(ROOT, 'dist/apps/leaf-server/src/main.js')], {
  stdio: ['ignore', 'pipe', 'inherit'],
  env: {
    PATH: process.env.PATH,
    LEAF_HOST: '127.0.0.1',
    LEAF_PORT: '0',
    LEAF_DATA_DIR: directory,
    LEAF_ADVERTISE_HOST: '10.0.0.7',
    LEAF_ADVERTISE_PORT: '8080',
    LEAF_ADMIN_TOKEN: TOKEN,
    LEAF_LOG_FORMAT: 'json',
  },
});
let browser;
let drawing = true;
try {
  const origin = await listening();
  for (const [tag, step, description] of TAGS) await create(origin, { tag, step, description });
  const load = drawIds(origin);
  await Promise.race([sleep(seconds * 1000), load]);
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
  mkdirSync(OUT, { recursive: true });
  for (const [size, viewport] of Object.entries(SIZES)) {
    for (const colorScheme of ['light', 'dark']) await picture(origin, size, { viewport, colorScheme });
  }
  drawing = false;
  await load;
} finally {
  await browser?.close();
  server.kill('SIGINT');
  if (server.exitCode === null) await once(server, 'exit');
  rmSync(directory, { recursive: true, force: true });
}

function listening() {
  return new Promise((resolve, reject) => {
    let output = '';
    server.stdout.on('data', (part) => {
      output += part;
      const match = /Listening on (http:\/\/[\d.]+:\d+)/.exec(output);
      if (match !== null) resolve(match[1]);
    });
    server.on('exit', () => reject(new Error(`The server failed to start:\n${output}`)));
  });
}

async function create(origin, body) {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
  const response = await fetch(`${origin}/api/tags`, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(await response.text());
}

/** Requests IDs four times a second, with a rate that varies as a wave. */
async function drawIds(origin) {
  const owed = new Map(TAGS.map(([tag]) => [tag, 0]));
  for (let round = 0; drawing; round++) {
    const wave = (1 + 0.35 * Math.sin(round / 240)) * (0.9 + 0.2 * Math.random());
    const draws = TAGS.map(([tag, , , rate]) => {
      const size = owed.get(tag) + (rate * wave) / 4;
      owed.set(tag, size % 1);
      return size < 1 ? undefined : fetch(`${origin}/api/segment/range/${tag}?size=${Math.floor(size)}`);
    });
    const snowflakes = Math.round(1400 * (1 + 0.5 * Math.sin(round / 90)));
    const answers = await Promise.all([...draws, fetch(`${origin}/api/snowflake/batch/event?size=${snowflakes}`)]);
    await Promise.all(answers.map((answer) => answer?.arrayBuffer()));
    await sleep(250);
  }
}

async function picture(origin, size, options) {
  const context = await browser.newContext({ ...options, locale: 'en-GB' });
  const page = await context.newPage();
  for (const [view, name] of Object.entries(VIEWS)) {
    await page.goto(`${origin}/#/${view}`);
    await page.getByRole('main').locator('section, dl').first().waitFor();
    if (view === 'try') {
      await page.getByLabel('Request type').selectOption('batch');
      await page.getByRole('button', { name: 'Get IDs', exact: true }).click();
      await page.getByText('10 IDs in').waitFor();
    }
    // The rate charts need several seconds of data.
    if (view === 'segments') await sleep(size === 'desk' ? 20_000 : 3000);
    await page.screenshot({ path: join(OUT, `${name}-${size}-${options.colorScheme}.png`) });
  }
  await context.close();
}
