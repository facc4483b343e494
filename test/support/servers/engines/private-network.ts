import { randomBytes, randomInt } from 'node:crypto';
import { run } from '../services';

/** The name of a namespace or bridge of this class begins with it and the ID of the process that made it. */
const PREFIX = 'lf';

export interface NetworkHost {
  readonly address: string;
  /** The words that run a command on this host. */
  readonly words: readonly string[];
}

/** This host. */
export const LOCAL: NetworkHost = { address: '127.0.0.1', words: [] };

/**
 * Hosts with an address each, in network namespaces of Linux on one bridge; this process reaches all of them. Requires
 * root and the command `ip`.
 */
export class PrivateNetwork {
  private constructor(
    private readonly name: string,
    readonly hosts: readonly NetworkHost[],
  ) {}

  /** @throws Error of the command that failed */
  static async create(count: number): Promise<PrivateNetwork> {
    await removeLeftBehind();
    const name = `${PREFIX}${process.pid}x${randomBytes(1).toString('hex')}`;
    const subnet = `10.${randomInt(200, 255)}.${randomInt(256)}`;
    const hosts = Array.from({ length: count }, (_, index) => ({
      address: `${subnet}.${index + 1}`,
      words: ['ip', 'netns', 'exec', `${name}${index}`],
    }));
    const network = new PrivateNetwork(name, hosts);
    await ip(`link add ${name} type bridge`);
    await ip(`addr add ${subnet}.254/24 dev ${name}`);
    await ip(`link set ${name} up`);
    for (const [index, { address }] of hosts.entries()) {
      // The namespace and its side of the bridge have one name.
      const space = `${name}${index}`;
      await ip(`netns add ${space}`);
      await ip(`link add ${space} type veth peer name eth0 netns ${space}`);
      await ip(`link set ${space} master ${name} up`);
      await ip(`-n ${space} addr add ${address}/24 dev eth0`);
      await ip(`-n ${space} link set eth0 up`);
      await ip(`-n ${space} link set lo up`);
    }
    return network;
  }

  /** Drops all packets between these hosts and the others, in both directions, without notice. */
  async split(side: readonly number[]): Promise<void> {
    await this.forPairs(side, 'add');
  }

  /** Ends {@link split}. */
  async heal(side: readonly number[]): Promise<void> {
    await this.forPairs(side, 'del');
  }

  async remove(): Promise<void> {
    await removeNetwork(this.name, this.hosts.length);
  }

  private async forPairs(side: readonly number[], action: 'add' | 'del'): Promise<void> {
    for (const from of this.hosts.keys()) {
      for (const [to, { address }] of this.hosts.entries()) {
        if (side.includes(from) === side.includes(to)) continue;
        await ip(`-n ${this.name}${from} route ${action} blackhole ${address}/32`);
      }
    }
  }
}

function ip(words: string): Promise<{ readonly stdout: string }> {
  return run('ip', words.split(' '));
}

async function removeNetwork(name: string, count: number): Promise<void> {
  for (let index = 0; index < count; index++) await ip(`netns del ${name}${index}`);
  await ip(`link del ${name}`);
}

/** Networks of processes that have ended. */
async function removeLeftBehind(): Promise<void> {
  const pattern = new RegExp(`\\b(${PREFIX}(\\d+)x[0-9a-f]{2})(\\d*)\\b`, 'g');
  const isGone = (pid: number): boolean => {
    try {
      return !process.kill(pid, 0);
    } catch {
      return true;
    }
  };
  const namesIn = async (words: string): Promise<string[]> => {
    const { stdout } = await ip(words);
    const found = [...stdout.matchAll(pattern)].filter(([, , pid]) => isGone(Number(pid)));
    return [...new Set(found.map(([name]) => name))];
  };
  for (const name of await namesIn('netns list')) await ip(`netns del ${name}`);
  for (const name of await namesIn('-o link show type bridge')) await ip(`link del ${name}`);
}
