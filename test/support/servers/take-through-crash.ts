import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { freePort } from '../free-port';
import { outsideEnvironment } from '../packages';
import { until } from '../until';
import { BuiltServers } from './built-server';

const TAG = 'leaf-segment-test';
const COUNT = 100_000;

/**
 * Runs a program of `test/clients` that takes 100,000 IDs, and kills the server when the program has half of them. Fails
 * unless it gets all of them from the next server, each once, and prints no error.
 *
 * @param words the program and its first arguments; the port, the tag and the count follow
 */
export async function takeThroughCrash(words: readonly string[], cwd: string): Promise<void> {
  const servers = new BuiltServers();
  try {
    const directory = await servers.makeDirectory();
    const env = { LEAF_RESP_PORT: String(await freePort()) };
    const first = await servers.start(directory, env);
    const [program = '', ...options] = words;
    const client = spawn(program, [...options, env.LEAF_RESP_PORT, TAG, String(COUNT)], {
      cwd,
      env: outsideEnvironment(),
    });
    let [ids, errors] = ['', ''];
    client.stdout.setEncoding('latin1').on('data', (text: string) => (ids += text));
    client.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
    const ended = once(client, 'close');
    await until('half of the IDs', () => errors.includes('half\n') || client.exitCode !== null);
    await first.kill();
    await servers.start(directory, env);
    const [code] = (await ended) as [number];
    expect([code, errors.replaceAll('half\n', '')]).toEqual([0, '']);
    const taken = ids.trim().split('\n');
    expect(taken).toHaveLength(COUNT);
    expect(new Set(taken).size).toBe(COUNT);
  } finally {
    await servers.end();
  }
}
