import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MeasuredRow } from '../rows';
import { shareCores } from './cores';
import { COMPILED_PEERS, compilePeer, peerTargets } from './peers';

type Row = Pick<MeasuredRow, 'name' | 'rounds'>;

function row(name: string, ...perCpu: number[]): Row {
  return { name, rounds: perCpu.map((value) => ({ rate: 1, perCpu: value, p50Ms: 1, p99Ms: 1 })) };
}

describe('the targets beside peers', () => {
  const leaf = row('Leaf snowflake', 130, 90, 200);

  it('are ratios within each round, per CPU second', () => {
    const rows = [
      leaf,
      row('Go net/http', 100, 90, 100),
      row('node:net', 200, 100, 100),
      row('node:http', 50, 50, 100),
    ];
    expect(peerTargets(rows, true)).toMatchObject([
      { name: 'Leaf snowflake per CPU second, of Go net/http', value: 1.3, target: 1.3, reached: true },
      { name: 'Leaf snowflake per CPU second, of node:net', value: 0.9, target: 0.7, reached: true },
      { name: 'Leaf snowflake per CPU second, of node:http', value: 2, target: 1.8, reached: true },
    ]);
  });

  it.each([
    ['a missing peer', [leaf], true],
    ['a system without CPU times', [leaf, row('Go net/http', NaN, NaN, NaN)], true],
    ['another set-up', [leaf, row('Go net/http', 1, 1, 1)], false],
  ])('are not measured with %s', (_case, rows, production) => {
    expect(peerTargets(rows, production)[0]).toMatchObject({ value: null, reached: false });
  });
});

describe('a peer that is compiled', () => {
  const folder = mkdtempSync(join(tmpdir(), 'leaf-peers-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const build = (run: () => Promise<string>): ReturnType<typeof compilePeer> =>
    compilePeer({ folder: () => folder, run }, shareCores(), COMPILED_PEERS[0]!);

  it('is its program, with one processor for Go', async () => {
    jest.spyOn(console, 'log').mockImplementationOnce(() => undefined);
    const server = await build(() => Promise.resolve('go version\n'));
    expect(server).toMatchObject({ command: [join(folder, 'server')], env: { GOMAXPROCS: '1' } });
    expect(readdirSync(folder)).toEqual(['main.go']);
  });

  it('is left out without its compiler, with one line that names the package', async () => {
    const error = jest.spyOn(console, 'error').mockImplementationOnce(() => undefined);
    expect(await build(() => Promise.reject(new Error('exited with 127:\nsh: go: not found')))).toBeUndefined();
    expect(error.mock.calls).toEqual([[expect.stringMatching(/^Go net\/http is left out.*golang-go.*not found$/)]]);
    error.mockRestore();
  });
});
