import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { ROOT } from '../../support/build';
import { blocksOf, evaluate, readPage } from '../../support/pages';

const readme = readPage('README.md');

describe('README', () => {
  let directory: string;
  const home = process.cwd();

  beforeAll(() => {
    Logger.overrideLogger(false);
  });
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'leaf-readme-'));
    process.chdir(directory);
  });

  afterEach(() => {
    process.chdir(home);
    rmSync(directory, { recursive: true });
  });

  it('has scripts behind its commands', () => {
    const { version, scripts, bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      version: string;
      scripts: Record<string, string>;
      bin: Record<string, string>;
    };
    expect(blocksOf(readme, 'sh')[0]).toBe('npm ci && npm start\n');
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(['start', 'test', 'check', 'build', 'pack']));
    expect(readme).toContain(bin['leaf-server']);
    expect(readme).toContain(`Version ${version} `);
    expect(readme.split('\n').length).toBeLessThanOrEqual(130);
  });

  it('gives figures of speed that bench/README.md has', () => {
    const figures = /issued ([\d,]+) segment IDs per second [^:]*: ([\d.]+) times [^,]*, ([\d.]+) times/.exec(readme);
    const [, rate = '', toNode, toGo] = figures ?? [];
    const rowOf = (name: string): string =>
      new RegExp(`^\\| ${name} .*$`, 'm').exec(readPage('bench/README.md'))?.[0] ?? '';
    const ratioOf = (name: string): number => Number(/([\d.]+) \|$/.exec(rowOf(name))?.[1]);
    expect(rowOf('Leaf segment')).toContain(` ${rate} `);
    // In the table, the ratio is that of a snowflake ID to the peer, and to a segment ID.
    const expected = ['node:http', 'Go net/http'].map((name) => (ratioOf(name) / ratioOf('Leaf segment')).toFixed(1));
    expect([toNode, toGo]).toEqual(expected);
  });

  it('shows a program that runs', async () => {
    const log = jest.fn();
    const program = evaluate(blocksOf(readme, 'ts')[0]!, { console: { log } }) as { main(): Promise<void> };
    await program.main();
    expect(log.mock.calls).toEqual([[1n, expect.any(BigInt)]]);
  });
});
