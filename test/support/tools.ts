import { access, constants, readdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

interface Tool {
  readonly debianPackage: string;
  /** One part of a path may be `*`; the highest version wins. Programs are looked for on PATH first. */
  readonly places: readonly string[];
  readonly isProgram: boolean;
}

const program = (debianPackage: string, ...places: string[]): Tool => ({ debianPackage, places, isProgram: true });
const library = (debianPackage: string, ...places: string[]): Tool => ({ debianPackage, places, isProgram: false });

/** Tools outside npm that all tiers except the fast one need. */
const TOOLS = {
  mariadbd: program('mariadb-server', '/usr/sbin', '/usr/local/sbin'),
  'mariadb-install-db': program('mariadb-server', '/usr/bin', '/usr/local/bin'),
  mysqldump: program('mariadb-client', '/usr/bin', '/usr/local/bin'),
  initdb: program('postgresql', '/usr/lib/postgresql/*/bin', '/usr/local/pgsql/bin'),
  pgbouncer: program('pgbouncer', '/usr/sbin', '/usr/local/sbin'),
  etcd: program('etcd-server', '/usr/bin'),
  etcdctl: program('etcd-client', '/usr/bin'),
  java: program('default-jre-headless', '/usr/lib/jvm/*/bin'),
  'zookeeper.jar': library('zookeeper', '/usr/share/java'),
  'libfaketime.so.1': library('faketime', '/usr/lib/*/faketime', '/usr/lib/faketime', '/usr/local/lib/faketime'),
  chromium: program('chromium', '/usr/bin', '/usr/local/bin', '/snap/bin'),
  curl: program('curl', '/usr/bin'),
  mvn: program('maven', '/usr/bin'),
  haproxy: program('haproxy', '/usr/sbin', '/usr/local/sbin'),
  nginx: program('nginx-light', '/usr/sbin', '/usr/local/sbin'),
  openssl: program('openssl', '/usr/bin'),
  'prometheus-alertmanager': program('prometheus-alertmanager', '/usr/bin'),
  promtool: program('prometheus', '/usr/bin', '/usr/local/bin'),
  python3: program('python3', '/usr/bin'),
  'redis-benchmark': program('redis-tools', '/usr/bin'),
  'redis-cli': program('redis-tools', '/usr/bin'),
  'redis-server': program('redis-server', '/usr/bin'),
  sqlite3: program('sqlite3', '/usr/bin'),
  flock: program('util-linux', '/usr/bin'),
  setpriv: program('util-linux', '/usr/bin'),
  unshare: program('util-linux', '/usr/bin'),
} satisfies Record<string, Tool>;

const go = program('golang-go', '/usr/bin', '/usr/local/go/bin');

/** Additional tools for `node test/engines/run.mjs`, `npx jest --selectProjects clients`, `npm run test:deploy` and `npm run proof`. */
const MORE_TOOLS = {
  engines: {
    patchelf: program('patchelf', '/usr/bin'),
    rsync: program('rsync', '/usr/bin'),
    ip: program('iproute2', '/usr/sbin'),
    'libgalera_smm.so': library('galera-4', '/usr/lib/galera'),
  },
  clients: {
    go,
    javac: program('default-jdk-headless', '/usr/lib/jvm/*/bin'),
  },
  deploy: { go, 'systemd-analyze': program('systemd', '/usr/bin') },
  proof: { 'z3.py': library('python3-z3', '/usr/lib/python3/dist-packages/z3') },
} satisfies Record<string, Record<string, Tool>>;

export type ToolGroup = keyof typeof MORE_TOOLS;
export const TOOL_GROUPS = Object.keys(MORE_TOOLS) as ToolGroup[];

const ALL = { ...TOOLS, ...MORE_TOOLS.engines, ...MORE_TOOLS.clients, ...MORE_TOOLS.deploy, ...MORE_TOOLS.proof };
export type ToolName = keyof typeof ALL;

export interface MissingTool {
  readonly name: string;
  readonly debianPackage: string;
}

/** The path of a tool. */
export async function requireTool(name: ToolName): Promise<string> {
  const path = await find(name, ALL[name]);
  if (path === undefined) throw new Error(`${name} is not installed. Run: npm run test:setup${optionOf(name)}`);
  return path;
}

export async function missingTools(groups: readonly ToolGroup[] = []): Promise<MissingTool[]> {
  const missing: MissingTool[] = [];
  const needed = Object.assign({}, TOOLS, ...groups.map((group) => MORE_TOOLS[group])) as Record<string, Tool>;
  for (const [name, tool] of Object.entries(needed)) {
    if ((await find(name, tool)) === undefined) missing.push({ name, debianPackage: tool.debianPackage });
  }
  return missing;
}

function optionOf(name: ToolName): string {
  const group = TOOL_GROUPS.find((each) => name in MORE_TOOLS[each]);
  return group === undefined ? '' : ` -- --${group}`;
}

async function find(name: string, { places, isProgram }: Tool): Promise<string | undefined> {
  const path = isProgram ? (process.env.PATH ?? '').split(delimiter).filter((directory) => directory !== '') : [];
  const mode = isProgram ? constants.X_OK : constants.R_OK;
  for (const place of [...path, ...places]) {
    for (const directory of await expand(place)) {
      const file = join(directory, name);
      const isUsable = await access(file, mode).then(
        () => true,
        () => false,
      );
      if (isUsable) return file;
    }
  }
  return undefined;
}

async function expand(place: string): Promise<string[]> {
  const [above = '', below] = place.split('*');
  if (below === undefined) return [place];
  const names = await readdir(above).catch((): string[] => []);
  names.sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
  return names.map((name) => above + name + below);
}
